import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { formatGroupResource } from '../../src/base/machinery/group-version.js';
import { StatusError } from '../../src/base/machinery/status-error.js';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import type { AdmissionDependencies } from '../../src/server/admission/admission-dependencies.js';
import type { AdmissionPlugin } from '../../src/server/admission/admission-plugin.js';
import type { AdmissionAttributes } from '../../src/server/admission/attributes.js';
import { admissionAttributes, type TestRequest } from './admission-attributes.js';

/** The environment of a plugin under test. */
export interface TestWorld {
  /** Objects in memory by resource and then by name, in any namespace. */
  readonly known?: Readonly<Record<string, Readonly<Record<string, object>>>>;
  /** Objects that only the store has. */
  readonly stored?: Readonly<Record<string, Readonly<Record<string, object>>>>;
  /** Annotations of every namespace. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The configuration of the plugin. */
  readonly configuration?: unknown;
}

/** The dependencies of a plugin whose unit test needs no server. */
export function admissionParts({
  known = {},
  stored = {},
  annotations = {},
  configuration,
}: TestWorld): AdmissionDependencies {
  const dependencies: Partial<AdmissionDependencies> = {
    names: vendorNames('k8s.io'),
    namespaces: {
      state: () => 'active',
      get: () => ({ state: 'active', labels: {}, annotations, object: { metadata: {} } }),
    },
    listers: {
      of: (resource, project) => {
        const objects = Object.entries(known[formatGroupResource(resource)] ?? {});
        const values = new Map(objects.map(([name, object]) => [name, project(named(name, object))]));
        const all = () => values.values();
        return { get: (_namespace, name) => values.get(name), inNamespace: all, all, lostForMs: 0 };
      },
    },
    objects: {
      read: async (resource, _namespace, name) => {
        const found = stored[formatGroupResource(resource)]?.[name];
        return found === undefined ? undefined : named(name, found);
      },
    },
    configuration: {
      of: () => (configuration === undefined ? undefined : { value: configuration, source: 'f', folder: '' }),
    },
  };
  return dependencies as AdmissionDependencies;
}

function named(name: string, object: object): ApiObject {
  const { metadata, ...rest } = object as ApiObject;
  return { metadata: { ...metadata, name }, ...rest };
}

/** The outcome of both phases of a plugin. */
export interface Admitted {
  readonly attributes: AdmissionAttributes;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the plugin made
  readonly object: any;
  /** The refusal without its first part, which names the object. */
  readonly problem: string | undefined;
}

/** Sends a request through both phases of a plugin, until it is refused. */
export async function admit(plugin: AdmissionPlugin, request: TestRequest): Promise<Admitted> {
  const attributes = admissionAttributes(structuredClone(request));
  let problem: string | undefined;
  try {
    if (plugin.handles(attributes.operation)) {
      await plugin.admit?.(attributes);
      await plugin.validate?.(attributes);
    }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    problem = error.code === 403 ? error.message.replace(/^.*? is forbidden: /, '') : `${error.code} ${error.message}`;
  }
  return { attributes, object: attributes.object, problem };
}
