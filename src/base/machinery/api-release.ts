/** The API release that this server implements; clients compare it with their own for skew. */
export const apiRelease = { major: '1', minor: '37' } as const;
