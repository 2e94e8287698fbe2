/** In `DATA_DIR`, while standalone runs there: the URL of its search store, for commands. It counts only while the directory is locked. */
export const SEARCH_ADDRESS_FILE = 'search-address'
