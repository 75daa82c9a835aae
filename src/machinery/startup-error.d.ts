/** A startup failure that the user can fix. Its message is one clear line, shown without a stack. */
export declare class StartupError extends Error {
    constructor(message: string, options?: ErrorOptions);
}
/** The message of any thrown value. Failed connection attempts to several addresses contain several messages. */
export declare function errorText(error: unknown): string;
/** The `code` of a system error such as `ENOENT`, otherwise undefined. */
export declare function errorCode(error: unknown): string | undefined;
