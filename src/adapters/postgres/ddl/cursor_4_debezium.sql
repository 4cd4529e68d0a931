-- SELECT @emit@('OrderPaid', json_build_object('id', 7), resource_id => '7');
CREATE OR REPLACE FUNCTION @emit@(
  type text,
  data json,
  resource_id text DEFAULT NULL,
  aggregate_type text DEFAULT NULL,
  id uuid DEFAULT gen_random_uuid()
) RETURNS uuid LANGUAGE sql BEGIN ATOMIC
  INSERT INTO @outbox@ (id, aggregatetype, aggregateid, type, payload)
  VALUES (@emit.@id, @emit.@aggregate_type, @emit.@resource_id, @emit.@type, @emit.@data)
  RETURNING id;
END;

COMMIT;
