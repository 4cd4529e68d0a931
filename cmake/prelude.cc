// Nothing but its prelude.
