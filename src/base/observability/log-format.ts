/** Log lines as text for people, or as JSON for collectors. */
export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];
