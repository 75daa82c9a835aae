import {
  type Infer,
  kind,
  list,
  pointer,
  rawExtension,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { status } from '../../meta/v1/status.types.js';

export const conversionRequest = struct('apiextensions.v1.ConversionRequest', {
  uid: required(1, string),
  desiredAPIVersion: required(2, string),
  objects: required(3, list(rawExtension)),
});
export type ConversionRequest = Infer<typeof conversionRequest>;

export const conversionResponse = struct('apiextensions.v1.ConversionResponse', {
  uid: required(1, string),
  convertedObjects: required(2, list(rawExtension)),
  result: required(3, status),
});
export type ConversionResponse = Infer<typeof conversionResponse>;

export const conversionReview = kind(
  { group: 'apiextensions', version: 'v1', kind: 'ConversionReview' },
  {
    request: pointer(1, conversionRequest),
    response: pointer(2, conversionResponse),
  },
  { doc: 'Objects for a webhook to convert, and the converted ones.' },
);
export type ConversionReview = Infer<typeof conversionReview>;
