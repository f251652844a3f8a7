-- What a context shows whatever its age (View::Pinned), so that it is found without reading the window.
CREATE INDEX message_pinned ON message (owner, session, seq, layer)
    WHERE archived_by IS NULL AND body IS NOT NULL AND (layer > 0 OR role IN ('system', 'developer'));

PRAGMA user_version = 4;
