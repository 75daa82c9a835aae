import { notAcceptableError } from '../../../base/machinery/status-error.js';
import { parseAccept } from '../negotiation/accept.js';

/** The form in which a client accepts a page about the process. */
export type PageForm =
  | { readonly mediaType: 'text' }
  | { readonly mediaType: 'json' | 'yaml'; readonly version: PageVersion; readonly contentType: string };

const versions = ['v1beta1', 'v1alpha1'] as const;
type PageVersion = (typeof versions)[number];
const mediaTypes = ['application/json', 'application/yaml', 'text/plain'];

/**
 * The form of a page: text, unless the Accept header names the kind with its group and version.
 *
 * @param group the API group of the configuration kinds
 * @throws StatusError NotAcceptable when the header names only other forms
 */
export function pageForm(accept: string | undefined, group: string, kind: string): PageForm {
  if (accept === undefined || accept === '') return { mediaType: 'text' };
  for (const { type, parameters, quality } of parseAccept(accept)) {
    if (quality === 0) continue;
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') return { mediaType: 'text' };
    if (type !== 'application/json' && type !== 'application/yaml') continue;
    if (parameters.get('g') !== group || parameters.get('as') !== kind) continue;
    const version = versions.find((one) => one === parameters.get('v'));
    if (version === undefined) continue;
    const contentType = `${type};g=${group};v=${version};as=${kind}`;
    return { mediaType: type === 'application/json' ? 'json' : 'yaml', version, contentType };
  }
  throw notAcceptableError(mediaTypes);
}

/** Whether the form is an old version of the kind. */
export function isOldPage(form: PageForm): boolean {
  return form.mediaType !== 'text' && form.version !== versions[0];
}
