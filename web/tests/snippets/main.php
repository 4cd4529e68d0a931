<?php
// Each argument is a directory with a recorded request: headers and body. Prints true or false.
require __DIR__ . '/verify.php';

foreach (array_slice($argv, 1) as $directory) {
    $headers = [];
    foreach (file("$directory/headers", FILE_IGNORE_NEW_LINES) as $line) {
        [$name, $value] = explode(': ', $line, 2);
        $headers[$name] = $value;
    }
    echo verify($headers, file_get_contents("$directory/body")) ? "true\n" : "false\n";
}
