import { type FieldError, type FieldPath, invalid, required } from '../../../../base/machinery/field-error.js';
import { isDns1123Subdomain, isPortNumber } from '../../../../base/machinery/names.js';
import type { ServiceReference, WebhookClientConfig } from './webhook-client-config.types.js';

const urlForm = 'desired format: https://host[/path]';

/** Validates a webhook's address: a URL or a service, not both. */
export function validateClientConfig(config: WebhookClientConfig, path: FieldPath): FieldError[] {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateUrl(url, path.child('url'));
  return validateService(service as ServiceReference, path.child('service'));
}

interface UrlParts {
  readonly scheme: string;
  readonly userInfo: string | undefined;
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

function validateUrl(url: string, path: FieldPath): FieldError[] {
  const parts = splitUrl(url);
  if (parts === undefined) return [required(path, `url must be a valid URL: ${urlFault(url)}; ${urlForm}`)];
  const errors: FieldError[] = [];
  if (parts.scheme !== 'https') {
    errors.push(invalid(path, parts.scheme, `'https' is the only allowed URL scheme; ${urlForm}`));
  }
  if (parts.host === '') errors.push(invalid(path, parts.host, `host must be specified; ${urlForm}`));
  if (parts.userInfo !== undefined) {
    errors.push(invalid(path, parts.userInfo, 'user information is not permitted in the URL'));
  }
  if (parts.fragment !== '') errors.push(invalid(path, parts.fragment, 'fragments are not permitted in the URL'));
  if (parts.query !== '') errors.push(invalid(path, parts.query, 'query parameters are not permitted in the URL'));
  return errors;
}

/**
 * Splits a URL reference into its parts without normalising them, so each can be shown and checked on its own. The
 * platform's URL class refuses relative references and fills in missing parts.
 */
function splitUrl(text: string): UrlParts | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]|%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  if (text.startsWith(':')) return undefined;
  const [beforeFragment, fragment] = cut(text, '#');
  const [hierarchy, query] = cut(beforeFragment, '?');
  const schemeMatch = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(hierarchy);
  const scheme = schemeMatch?.[1]?.toLowerCase() ?? '';
  const rest = schemeMatch === null ? hierarchy : hierarchy.slice(schemeMatch[0].length);
  if (!rest.startsWith('//')) return { scheme, userInfo: undefined, host: '', query, fragment };
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  if (!isHostAndPort(host)) return undefined;
  return { scheme, userInfo: at < 0 ? undefined : authority.slice(0, at), host, query, fragment };
}

/** Why a string is not a valid URL, in the reference server's words where they are known. */
function urlFault(url: string): string {
  const shown = `parse ${JSON.stringify(url)}`;
  const faulty = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(url)?.[0];
  if (faulty !== undefined) return `${shown}: invalid URL escape ${JSON.stringify(faulty)}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(url)) return `${shown}: net/url: invalid control character in URL`;
  if (url.startsWith(':')) return `${shown}: missing protocol scheme`;
  const port = /^[^/]*\/\/[^/]*?(:[^\d/:\]][^/:]*)$/.exec(url)?.[1];
  if (port !== undefined) return `${shown}: invalid port ${JSON.stringify(port)} after host`;
  const unfit = /^[^/]*\/\/[^/]*?([\s<>"\\^`{}|])/.exec(url)?.[1];
  return `${shown}: ${unfit === undefined ? 'invalid URL' : `invalid character ${JSON.stringify(unfit)} in host name`}`;
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function isHostAndPort(host: string): boolean {
  return host === '' || /^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]<>"\\^`{}|]+)(?::\d*)?$/.test(host);
}

function validateService(service: ServiceReference, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  // Release 1.37 reports each of the two at the place of the other, and so does every answer that clients know.
  if (service.namespace === '') errors.push(required(path.child('name')));
  if (service.name === '') errors.push(required(path.child('namespace')));
  const port = service.port ?? 0;
  for (const m of isPortNumber(port)) errors.push(invalid(path.child('port'), port, `port is not valid: ${m}`));
  if (service.path !== undefined) validateServicePath(service.path, path.child('path'), errors);
  return errors;
}

function validateServicePath(urlPath: string, at: FieldPath, errors: FieldError[]): void {
  if (urlPath === '' || urlPath === '/') return;
  if (urlPath === '//') {
    errors.push(invalid(at, urlPath, 'segment[0] may not be empty'));
    return;
  }
  if (!urlPath.startsWith('/')) errors.push(invalid(at, urlPath, "must start with a '/'"));
  const trimmed = urlPath.endsWith('/') ? urlPath.slice(1, -1) : urlPath.slice(1);
  for (const [i, segment] of trimmed.split('/').entries()) {
    if (segment === '') {
      errors.push(invalid(at, urlPath, `segment[${i}] may not be empty`));
      continue;
    }
    for (const m of isDns1123Subdomain(segment)) errors.push(invalid(at, urlPath, `segment[${i}]: ${m}`));
  }
}
