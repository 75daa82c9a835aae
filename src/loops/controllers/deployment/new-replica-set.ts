import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { DeepPartial } from '../frame/loop-client.js';
import { controllerReference } from '../frame/pod-from-template.js';
import { templateHash } from '../frame/template-hash.js';
import {
  type DeploymentAnnotations,
  hashLabel,
  type StoredDeployment,
  type StoredReplicaSet,
} from './deployment-annotations.js';
import { newSetReplicas } from './deployment-replicas.js';
import { newRevision, newSetAnnotations, sizeAnnotations } from './replica-set-annotations.js';

/** The replica set of a deployment's template, before it exists; as large as the other sets allow. */
export function newReplicaSet(
  deployment: StoredDeployment,
  oldSets: readonly StoredReplicaSet[],
  annotations: DeploymentAnnotations,
): DeepPartial<StoredReplicaSet> & { metadata: { name: string }; spec: { replicas: number } } {
  const { name, namespace = '' } = deployment.metadata;
  const { minReadySeconds, selector } = deployment.spec;
  const template = cloneJson(deployment.spec.template);
  const hash = templateHash(template, deployment.status.collisionCount ?? 0);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const metadata = { ...template.metadata, labels };
  return {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...labels },
      annotations: {
        ...newSetAnnotations(deployment, {}, newRevision(oldSets, annotations), annotations),
        ...sizeAnnotations(deployment, annotations),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: newSetReplicas(deployment, 0, oldSets),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata },
    },
  } as DeepPartial<StoredReplicaSet> & { metadata: { name: string }; spec: { replicas: number } };
}
