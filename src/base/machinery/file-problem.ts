import type { Stats } from 'node:fs';
import { errorCode, errorText } from './startup-error.js';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file: a part of the path is not a folder',
  EACCES: 'there is no permission: change its rights, or name another',
  EPERM: 'there is no permission: change its rights, or name another',
  EROFS: 'the file system can only be read: name a place on another',
  EISDIR: 'it is a folder: name a file',
  ELOOP: 'its links lead in a circle: name another',
  ENAMETOOLONG: 'the path is too long: name a shorter one',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
};

/** Why a file can't be used, in words, without its path; with a remedy where that is not obvious. */
export function fileProblem(error: unknown): string {
  return reasons[errorCode(error) ?? ''] ?? errorText(error);
}

/** A failed call to the system that is about one path. */
export function isFileError(error: unknown): error is Error & { readonly path: string } {
  return error instanceof Error && errorCode(error) !== undefined && 'path' in error && typeof error.path === 'string';
}

/** A write that failed for lack of space. Unlike other failed calls it does not name its path. */
export function withoutSpace(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
}

/**
 * Whether opening the path would wait for a writer. That would block the whole process, so that it could not even be
 * stopped. A path that names a descriptor is open already, such as the pipes of `<(command)` in a shell.
 */
export function waitsForWriter(path: string, found: Stats): boolean {
  return found.isFIFO() && !/^\/(dev\/(stdin$|fd\/)|proc\/[^/]+\/fd\/)/.test(path);
}
