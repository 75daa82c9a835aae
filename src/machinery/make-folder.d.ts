/**
 * Makes a folder with all that lead to it, if they are not there; those made get the mode. Waits for the disk, so it is for
 * starts and not for requests. Node's own way of making several goes round without end where the system says that the
 * folder to make one in does not exist although it does, as in /proc.
 *
 * @returns whether the folder was made
 * @throws StartupError that names the folder, why it can't be made, and what helps
 */
export declare function makeFolder(path: string, mode?: number): boolean;
