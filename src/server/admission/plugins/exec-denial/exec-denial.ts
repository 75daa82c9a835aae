import { notFoundError } from '../../../../base/machinery/status-error.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isForPods } from '../../pods/pod-request.js';
import { refused } from '../../refused.js';

const pods = { group: '', resource: 'pods' };

/**
 * Refuses exec and attach for pods with more privileges than their users should gain. Deprecated; access to `pods/exec`
 * and `pods/attach` controls this better.
 */
export class ExecDenial implements AdmissionPlugin {
  /** @param deniesHost whether the rule covers pods that share namespaces of their node, not only privileged ones */
  constructor(
    readonly name: 'DenyEscalatingExec' | 'DenyExecOnPrivileged',
    private readonly reader: ObjectReader,
    private readonly deniesHost: boolean,
  ) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CONNECT';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!isForPods(attributes, 'exec') && !isForPods(attributes, 'attach')) return;
    const { namespace, name } = attributes;
    const pod = (await this.reader.read(pods, namespace, name)) as Pod | undefined;
    if (pod === undefined) throw notFoundError(pods, name);
    const what = this.problem(pod);
    if (what !== undefined) throw refused(attributes, `cannot exec into or attach to a ${what}`);
  }

  private problem({ spec }: Pod): string | undefined {
    if (this.deniesHost && spec.hostPID === true) return 'container using host pid';
    if (this.deniesHost && spec.hostIPC === true) return 'container using host ipc';
    const containers = [
      ...(spec.initContainers ?? []),
      ...(spec.containers ?? []),
      ...(spec.ephemeralContainers ?? []),
    ];
    const isPrivileged = containers.some(({ securityContext }) => securityContext?.privileged === true);
    return isPrivileged ? 'privileged container' : undefined;
  }
}
