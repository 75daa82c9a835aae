/** The environment variables of this process. Nothing outside `config` reads them. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;
