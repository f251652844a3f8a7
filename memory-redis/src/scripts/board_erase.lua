-- Erases a board, unless that was done for this epoch before. Answers how many entries went.
return { 'ok', removed }
