"""What is kept on disk: the journal (the truth), the symbol cache, and the files of a folder."""
