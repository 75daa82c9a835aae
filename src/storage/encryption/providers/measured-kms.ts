import type { KmsClient } from './kms-client.js';
import { service } from './kms-client.js';

/** Receives the calls of a key management service: the method's path, the name of the gRPC code, and the time. */
export type KmsObserver = (method: string, code: string, seconds: number) => void;

/** The codes of gRPC by number, as metrics name them. */
const codes = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

/** The client, with each of its calls reported. */
export function measuredKms(client: KmsClient, observe: KmsObserver): KmsClient {
  const measured = async <T>(method: string, call: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    let code: string = codes[0];
    try {
      return await call();
    } catch (error) {
      const { code: number } = error as { readonly code?: unknown };
      code = (typeof number === 'number' ? codes[number] : undefined) ?? 'Unknown';
      throw error;
    } finally {
      observe(`${service}${method}`, code, (performance.now() - began) / 1000);
    }
  };
  return {
    status: () => measured('Status', () => client.status()),
    encrypt: (plaintext, uid) => measured('Encrypt', () => client.encrypt(plaintext, uid)),
    decrypt: (secret, uid) => measured('Decrypt', () => client.decrypt(secret, uid)),
    close: () => client.close(),
  };
}
