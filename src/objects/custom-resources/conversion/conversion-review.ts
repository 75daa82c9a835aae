import { randomUUID } from 'node:crypto';

/** Versions of ConversionReview that the server supports. */
export type ConversionReviewVersion = 'v1' | 'v1beta1';

/** A review for a conversion webhook, with the id that the response must repeat. */
export function conversionReview(
  group: string,
  version: ConversionReviewVersion,
  desiredAPIVersion: string,
  objects: readonly string[],
): { readonly uid: string; readonly body: Buffer } {
  const uid = randomUUID();
  const head = JSON.stringify({ kind: 'ConversionReview', apiVersion: `${group}/${version}` }).slice(0, -1);
  const request = JSON.stringify({ uid, desiredAPIVersion }).slice(0, -1);
  return { uid, body: Buffer.from(`${head},"request":${request},"objects":[${objects.join(',')}]}}`) };
}
