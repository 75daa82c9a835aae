import type { Taint } from '../../../objects/apis/core/v1/affinity.types.js';
import { type Filter, refusal } from '../filter.js';
import { isTolerated, keepingAway, untolerated } from '../tolerations.js';

const unschedulable = refusal('NodeUnschedulable', 'node(s) were unschedulable', true);

/** Keeps pods away from cordoned nodes, unless they tolerate the taint of such nodes. */
export const nodeUnschedulable: Filter = {
  name: 'NodeUnschedulable',
  prepare(pod, { labelPrefix }) {
    const taint = { key: `node.${labelPrefix}/unschedulable`, effect: 'NoSchedule' } as Taint;
    if (isTolerated(taint, pod.tolerations)) return undefined;
    return { check: (node) => (node.isUnschedulable ? unschedulable : undefined) };
  },
};

const otherName = refusal('NodeName', "node(s) didn't match the requested node name", true);

/** Requires the node that the pod itself names. */
export const nodeName: Filter = {
  name: 'NodeName',
  prepare({ pod }) {
    const wanted = pod.spec.nodeName;
    return wanted ? { check: ({ name }) => (name === wanted ? undefined : otherName) } : undefined;
  },
};

const tainted = refusal('TaintToleration', 'node(s) had untolerated taint(s)', true);

/** Refuses nodes with hard taints that the pod does not tolerate. */
export const taintTolerationFilter: Filter = {
  name: 'TaintToleration',
  prepare({ tolerations }) {
    return {
      check: ({ taints }) =>
        taints.length === 0 || untolerated(taints, tolerations, keepingAway) === undefined ? undefined : tainted,
    };
  },
};

const unselected = refusal('NodeAffinity', "node(s) didn't match Pod's node affinity/selector", true);

/** Requires the pod's node selector and required node affinity. */
export const nodeAffinityFilter: Filter = {
  name: 'NodeAffinity',
  prepare({ requiredNodes, namedNodes }) {
    if (requiredNodes === undefined) return undefined;
    return {
      check: (node) => (requiredNodes(node) ? undefined : unselected),
      ...(namedNodes === undefined ? {} : { only: namedNodes }),
    };
  },
};

const portTaken = refusal('NodePorts', "node(s) didn't have free ports for the requested pod ports", false);

/** Requires the host ports of the pod's containers to be free. */
export const nodePorts: Filter = {
  name: 'NodePorts',
  prepare({ ports }) {
    if (ports.length === 0) return undefined;
    return { check: (node) => (node.ports.conflicts(ports) ? portTaken : undefined) };
  },
};
