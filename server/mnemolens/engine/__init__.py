"""One Workspace a folder: the facade that every surface asks. Plain frozen values in and out."""
