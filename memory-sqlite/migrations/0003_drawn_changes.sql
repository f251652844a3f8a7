-- From here on `changed`, of an owner's index and of its segments and blocks, counts nothing: it is a random number, drawn anew
-- with each change. So what a process holds in memory is told from what stands in the file also where an older copy of the file
-- was put in its place, and was changed as often since.
DROP INDEX text_segment_by_change;

PRAGMA user_version = 3;
