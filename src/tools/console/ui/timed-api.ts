import { Api, type CallOptions, type Send } from './api.js';
import { ApiFault } from './api-fault.js';
import { exactJson } from './exact-json.js';
import { pastRequest } from './past-request.js';
import { type ApiObject, readObject } from './yaml-text.js';

/**
 * Requests about the moment that the page shows. In the past, lists and objects are read as they were, with the rights
 * that the user has now; watches stay silent, and whatever would change something is refused here.
 */
export class TimedApi extends Api {
  /** @param version the version to read at; undefined: the present */
  constructor(
    private readonly version: () => string | undefined,
    key: () => string | undefined,
    loggedOut: (why: string) => void,
    send?: Send,
  ) {
    super(key, loggedOut, send);
  }

  protected override async call(path: string, options: CallOptions): Promise<Response> {
    const version = this.version();
    if (version === undefined) return super.call(path, options);
    const request = pastRequest(options.method ?? 'GET', path, version);
    switch (request.kind) {
      case 'pass':
        return super.call(path, options);
      case 'list':
        return super.call(request.path, options);
      case 'watch':
        return new Response(silence(options.signal));
      case 'refused':
        throw new ApiFault(405, request.why);
      case 'object': {
        const list = readObject(await (await super.call(request.path, options)).text());
        return new Response(exactJson(onlyObjectOf(list, request.name)));
      }
    }
  }
}

function onlyObjectOf({ apiVersion, kind = '', items }: ApiObject, name: string): ApiObject {
  const [object] = (Array.isArray(items) ? items : []) as ApiObject[];
  if (object === undefined) throw new ApiFault(404, `${name} did not exist at this moment`);
  return { apiVersion, kind: kind.replace(/List$/, ''), ...object } as ApiObject;
}

/** A body that has no end before the signal. */
function silence(signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
}
