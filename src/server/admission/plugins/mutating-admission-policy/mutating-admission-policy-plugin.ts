import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { forbiddenError, StatusError } from '../../../../base/machinery/status-error.js';
import { policyCostLimit, type Value } from '../../../../objects/cel/index.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { ExpressionRun, inEvaluationTurn } from '../../expressions/expression-run.js';
import { authorizerVariables } from '../../expressions/match-conditions.js';
import { type ExpressionInput, requestVariables } from '../../expressions/request-variables.js';
import { type ResourceAndKind, ResourceVersions } from '../../matching/resource-versions.js';
import { VersionedObjects } from '../../matching/versioned-objects.js';
import { type Bound, BoundPolicies } from '../../policies/bound-policies.js';
import { exemptResources } from '../../policies/exempt-resources.js';
import { LazyVariables, namespaceValue } from '../../policies/lazy-variables.js';
import { type PolicyErrorType, PolicyMetrics } from '../../policies/policy-metrics.js';
import { PolicyParams } from '../../policies/policy-params.js';
import { changedObject } from '../../webhooks/webhook-patch.js';
import { WebhookReinvocation } from '../mutating-admission-webhook/webhook-reinvocation.js';
import {
  type CompiledMutatingBinding,
  type CompiledMutatingPolicy,
  type CompiledMutation,
  compiledMutatingBinding,
  compiledMutatingPolicy,
} from './compiled-mutating-policy.js';
import { mergedObject, patchedObject } from './mutate.js';
import { MutationError } from './mutation-error.js';

type Pair = Bound<CompiledMutatingPolicy, CompiledMutatingBinding>;

type Dependencies = Pick<
  AdmissionDependencies,
  'names' | 'authorizer' | 'namespaces' | 'objects' | 'listers' | 'laterListers' | 'registry' | 'metrics'
>;

/** An expression failed; the failure policy decides. */
class MutationFailure extends Error {
  constructor(
    message: string,
    readonly errorType: PolicyErrorType,
    /** What went wrong in all mutations, if several failed. */
    readonly all: readonly string[] = [message],
  ) {
    super(message);
  }
}

/**
 * Changes objects by expressions that clients write (specification 5.5). Policies apply in the order of their names,
 * each to the result of the previous one, and again in the second round if they request it.
 */
export class MutatingAdmissionPolicyPlugin implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionPolicy';
  private readonly policies: BoundPolicies<CompiledMutatingPolicy, CompiledMutatingBinding>;
  private readonly params: PolicyParams;
  private readonly versions: ResourceVersions;
  private readonly isExempt: ReturnType<typeof exemptResources>;
  private readonly metrics: PolicyMetrics;

  constructor(private readonly dependencies: Dependencies) {
    const { listers, laterListers, names, registry, objects, namespaces, authorizer, metrics } = dependencies;
    this.versions = new ResourceVersions(registry);
    const matching = { namespaces, versions: this.versions };
    this.policies = new BoundPolicies(
      listers,
      names,
      { policies: 'mutatingadmissionpolicies', bindings: 'mutatingadmissionpolicybindings' },
      {
        policy: (object) => compiledMutatingPolicy(object, matching, authorizer),
        binding: (object) => compiledMutatingBinding(object, matching),
      },
    );
    this.params = new PolicyParams(laterListers, registry, objects);
    this.isExempt = exemptResources(names);
    this.metrics = new PolicyMetrics('mutating', metrics.registry);
  }

  /** Deletes and connections have no object to change. */
  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | undefined {
    const pairs = this.policies.all();
    if (pairs === undefined || this.isExempt(attributes.resource)) return undefined;
    return this.applyAll(pairs, attributes);
  }

  private async applyAll(pairs: readonly Pair[], attributes: AdmissionAttributes): Promise<void> {
    const { reinvocation } = attributes;
    const state = reinvocation.state(this.name, () => new WebhookReinvocation());
    if (reinvocation.isReinvoke) state.resume(attributes.object);
    let namespace: Value | undefined;
    for (const pair of pairs) {
      const { policy, binding } = pair;
      const id = `${policy.name}/${binding.name}`;
      if (reinvocation.isReinvoke && !state.isOutdated(id)) continue;
      const matched = await policy.matcher.match(attributes);
      if (matched === undefined) continue;
      if (binding.matcher !== undefined && (await binding.matcher.match(attributes)) === undefined) continue;
      namespace ??= await this.namespaceOf(attributes);
      if (await this.apply(pair, attributes, matched, namespace)) {
        state.changed();
        reinvocation.request();
      }
      if (policy.spec.reinvocationPolicy === 'IfNeeded') state.called(id);
    }
    state.leave(attributes.object);
  }

  private async namespaceOf({ namespace, resource }: AdmissionAttributes): Promise<Value> {
    if (namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return null;
    return namespaceValue((await this.dependencies.namespaces.get(namespace))?.object);
  }

  /** Whether the policy changed the object. Throws the refusal if the policy fails and its failure policy is `Fail`. */
  private async apply(
    pair: Pair,
    attributes: AdmissionAttributes,
    matched: ResourceAndKind,
    namespace: Value,
  ): Promise<boolean> {
    const { policy, binding } = pair;
    const began = performance.now();
    const before = attributes.object;
    let errorType: PolicyErrorType = 'no_error';
    let isDenied = false;
    try {
      return await this.changes(pair, attributes, matched, namespace);
    } catch (error) {
      if (!(error instanceof MutationFailure) && !(error instanceof MutationError)) throw error;
      errorType = error instanceof MutationFailure ? error.errorType : 'invalid_error';
      // A policy that fails leaves none of its changes behind.
      attributes.object = before;
      isDenied = policy.failsClosed;
      const reasons = error instanceof MutationFailure ? error.all : [error.message];
      if (isDenied) throw refusal(pair, attributes, reasons);
      return false;
    } finally {
      const seconds = (performance.now() - began) / 1000;
      this.metrics.checked(policy.name, binding.name, isDenied ? 'deny' : 'allow', errorType, seconds);
    }
  }

  private async changes(
    { policy, binding }: Pair,
    attributes: AdmissionAttributes,
    matched: ResourceAndKind,
    namespaceObject: Value,
  ): Promise<boolean> {
    const found = await this.params.find(policy.spec.paramKind, binding.spec.paramRef, attributes.namespace);
    if ('fault' in found) {
      const part = found.isOfPolicy === true ? 'policy' : 'binding';
      throw new MutationFailure(`failed to configure ${part}: ${found.fault}`, 'invalid_error');
    }
    if (found.params === 'skip') return false;
    const { variables: sources, conditions, mutations } = await policy.expressions;
    const run = new ExpressionRun(policyCostLimit);
    let isChanged = false;
    const failures: (MutationFailure | MutationError)[] = [];
    for (const param of found.params) {
      const params = ((await inEvaluationTurn(param)) ?? null) as Value;
      const matches = await conditions.matches(await this.input(attributes, matched), { params });
      if (matches === 'no match') continue;
      if (matches !== 'match') throw new MutationFailure(matches.error, 'invalid_error');
      for (const mutation of mutations) {
        const input = await this.input(attributes, matched);
        if (input.object === undefined) continue;
        const variables = new LazyVariables(sources);
        const basics = { ...requestVariables(input), ...authorizerVariables(this.dependencies.authorizer, input) };
        variables.scope = { ...basics, params, namespaceObject, variables };
        try {
          const value = await evaluated(run, mutation, variables.scope);
          const { object, isChanged: differs } = await this.mutated(mutation, value, input.object, attributes, matched);
          attributes.object = object;
          isChanged ||= differs;
        } catch (error) {
          // The refusal names the failures of all mutations.
          const isFailure = error instanceof MutationFailure || error instanceof MutationError;
          if (!isFailure || !policy.failsClosed) throw error;
          failures.push(error);
        }
      }
    }
    const [first] = failures;
    if (first === undefined) return isChanged;
    const errorType = first instanceof MutationFailure ? first.errorType : 'invalid_error';
    throw new MutationFailure(
      first.message,
      errorType,
      failures.map(({ message }) => message),
    );
  }

  private async input(attributes: AdmissionAttributes, matched: ResourceAndKind): Promise<ExpressionInput> {
    const objects = new VersionedObjects(attributes, this.versions);
    await objects.prepare(matched);
    return { attributes, ...matched, ...objects.as(matched) };
  }

  private mutated(
    { patchType }: CompiledMutation,
    value: Value,
    before: ApiObject,
    attributes: AdmissionAttributes,
    matched: ResourceAndKind,
  ): ReturnType<typeof changedObject> {
    const refuse = (text: string) => new MutationError(text);
    const { kind } = matched;
    const bodies = this.versions.bodiesOf(matched.resource, attributes.subresource);
    const body = bodies.find((one) => one.kind.version === kind.version && one.kind.group === kind.group) ?? bodies[0];
    if (body === undefined) throw refuse('the kind of the object is unknown');
    const changed = patchType === 'JSONPatch' ? patchedObject(before, value) : mergedObject(before, value, body.type);
    return changedObject(changed, before, attributes, matched, this.versions, refuse);
  }
}

async function evaluated(
  run: ExpressionRun,
  { source }: CompiledMutation,
  variables: Readonly<Record<string, Value>>,
): Promise<Value> {
  if ('fault' in source) throw new MutationFailure(source.fault, 'compile_error');
  const result = await run.evaluate(source.program, variables);
  if (result.error === undefined) return result.value;
  const message = `expression '${source.program.text}' resulted in error: ${result.error}`;
  throw new MutationFailure(message, result.isOutOfBudget ? 'out_of_budget' : 'invalid_error');
}

function refusal(
  { policy, binding }: Pair,
  { resource, name, object }: AdmissionAttributes,
  reasons: readonly string[],
): StatusError {
  const texts = reasons.map(
    (reason) => `policy '${policy.name}' with binding '${binding.name}' denied request: ${reason}`,
  );
  const text = texts[0] ?? '';
  const shown = name || (object?.metadata.generateName ?? '');
  const causes = texts.map((message) => ({ message }));
  const { details } = forbiddenError(resource, shown, text, causes);
  // Clients know this refusal by its code and its reason, which belong to different kinds of refusals elsewhere.
  return new StatusError('Invalid', text, { code: 403, details });
}
