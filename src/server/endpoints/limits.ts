/** Size limit of a request body, in bytes. */
export const maxBodyBytes = 3 * 1024 * 1024;

/** Objects read per round trip while a long list is streamed. */
export const listPageSize = 500;
