/** Why a file can't be used, in words, without its path; with what helps where that is not plain. */
export declare function fileProblem(error: unknown): string;
/** A failed call to the system that is about one path. */
export declare function isFileError(error: unknown): error is Error & {
    readonly path: string;
};
