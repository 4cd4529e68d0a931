-- SELECT @emit@('order.paid', json_build_object('id', 7), resource_id => '7');
CREATE OR REPLACE FUNCTION @emit@(
  type text,
  data json,
  resource_id text DEFAULT NULL,
  tenant_id text DEFAULT NULL,
  ordering_key text DEFAULT NULL,
  priority text DEFAULT NULL,
  source text DEFAULT NULL,
  metadata json DEFAULT NULL,
  id uuid DEFAULT gen_random_uuid()
) RETURNS uuid LANGUAGE sql BEGIN ATOMIC
  INSERT INTO @outbox@
    (id, type, data, resource_id, tenant_id, ordering_key, priority, source, metadata)
  VALUES (@emit.@id, @emit.@type, @emit.@data, @emit.@resource_id, @emit.@tenant_id,
          coalesce(@emit.@ordering_key, @emit.@resource_id), @emit.@priority, @emit.@source,
          @emit.@metadata)
  RETURNING id;
END;

COMMIT;
