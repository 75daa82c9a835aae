import type { Eviction } from '../../../objects/apis/lifecycle/v1alpha1/eviction.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { Since, type TableCell, type TableColumn } from '../../../objects/registry/resource-definition.js';
import { evictionState, targetColumns } from '../eviction-target.js';

type Responder = NonNullable<Eviction['status']['targetResponders']>[number];
type Answer = NonNullable<Eviction['status']['responders']>[number];

const processedStates: readonly string[] = ['Canceled', 'Interrupted', 'Completed'];

/** Table columns of evictions: the responder whose turn it is to evict the pod, and what it reports. */
export const evictionColumns: readonly TableColumn<Eviction>[] = [
  nameColumn,
  ...(targetColumns as readonly TableColumn<Eviction>[]),
  { name: 'Status', type: 'string', description: 'How far it has got.', cell: ({ status }) => evictionState(status) },
  { name: 'Active Responder', type: 'string', description: 'Whose turn it is.', cell: responderCell },
  { name: 'Responder Status', type: 'string', description: 'How far they have got.', cell: stateCell },
  {
    name: 'Responder Expected Finish',
    type: 'string',
    description: 'Time until they expect to be done.',
    cell: finishCell,
  },
  { name: 'Requesters', type: 'string', description: 'Who asks.', cell: requestersCell },
  ageColumn,
  {
    name: 'Responder Heartbeat',
    type: 'string',
    priority: 1,
    description: 'Time since they last said that they are at work.',
    cell: (eviction) => ago(answerOf(eviction)?.heartbeatTime) ?? '<unset>',
  },
  {
    name: 'Responder Status Message',
    type: 'string',
    priority: 1,
    description: 'What they say.',
    cell: (eviction) => answerOf(eviction)?.message?.trim() || '<unset>',
  },
];

function activeResponder({ status: { targetResponders = [] } }: Eviction): Responder | undefined {
  return (
    targetResponders.findLast(({ state }) => state === 'Active') ??
    targetResponders.findLast(({ state }) => processedStates.includes(state))
  );
}

function answerOf(eviction: Eviction): Answer | undefined {
  const active = activeResponder(eviction);
  return active && eviction.status.responders?.find(({ name }) => name === active.name);
}

function responderCell(eviction: Eviction): TableCell {
  const all = eviction.status.targetResponders ?? [];
  const begun = all.filter(({ state }) => state === 'Active' || processedStates.includes(state));
  return `${activeResponder(eviction)?.name ?? '<unset>'} (${begun.length}/${all.length})`;
}

function stateCell(eviction: Eviction): TableCell {
  const answer = answerOf(eviction);
  if (answer === undefined) return '<unset>';
  const { state } = activeResponder(eviction) as Responder;
  if (state === 'Active') return ago(answer.startTime, 'Started (', ' ago)') ?? state;
  return state === 'Completed' ? (ago(answer.completionTime, `${state} (`, ' ago)') ?? state) : state;
}

function finishCell(eviction: Eviction): TableCell {
  const answer = answerOf(eviction);
  if (answer === undefined) return '<unknown>';
  if (activeResponder(eviction)?.state !== 'Active') return '-';
  return (answer.startTime === undefined ? undefined : ago(answer.expectedCompletionTime)) ?? '<unknown>';
}

function requestersCell({ status: { requesters = [] } }: Eviction): TableCell {
  const names = requesters.filter(({ intent }) => intent !== 'Withdrawn').map(({ name }) => name);
  const [first] = names.sort();
  if (first === undefined) return requesters.length > 0 ? '<withdrawn>' : '<none>';
  return names.length > 1 ? `${first} + ${names.length - 1} more...` : first;
}

function ago(time: string | null | undefined, before = '', after = ' ago'): TableCell | undefined {
  return time === undefined || time === null ? undefined : new Since(Date.parse(time), before, after);
}
