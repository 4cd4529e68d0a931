-- What was measured, the limit that it passed and the unit of both (AlertUnit); NULL: nothing, or
-- raised before this migration. The name and the URL are those of the webhook when the alert was
-- raised; the URL is without its query.
ALTER TABLE alert ADD COLUMN webhook_name TEXT;
ALTER TABLE alert ADD COLUMN webhook_url TEXT;
ALTER TABLE alert ADD COLUMN measured REAL;
ALTER TABLE alert ADD COLUMN measured_limit REAL;
ALTER TABLE alert ADD COLUMN unit INTEGER;
UPDATE alert
   SET webhook_name = (SELECT w.name FROM webhook w WHERE w.id = alert.webhook_id),
       webhook_url = (SELECT substr(w.url, 1, instr(w.url || '?', '?') - 1)
                        FROM webhook w WHERE w.id = alert.webhook_id)
 WHERE webhook_id IS NOT NULL;
