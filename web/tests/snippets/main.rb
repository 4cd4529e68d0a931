# Each argument is a directory with a recorded request: headers and body. Prints true or false.
require_relative "verify"

ARGV.each do |directory|
  headers = File.readlines("#{directory}/headers", chomp: true).to_h { |line| line.split(": ", 2) }
  puts verify(headers, File.binread("#{directory}/body")) ? "true" : "false"
end
