import { stringifyInSteps } from '../../../base/machinery/json/stringify-in-steps.js';

/** The JSON of a document in pieces; an empty piece only ends a step. */
export function* jsonText(document: object): Generator<string, void, undefined> {
  const ready: string[] = [];
  const steps = stringifyInSteps(document, (text) => ready.push(text));
  for (let isDone = false; !isDone; ) {
    isDone = steps.next().done === true;
    if (ready.length > 0) yield* ready.splice(0);
    else yield '';
  }
}
