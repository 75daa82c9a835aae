import { addWarning } from '../../../../base/machinery/request-context.js';
import { forbiddenError, StatusError, type StatusReason } from '../../../../base/machinery/status-error.js';
import type { Value } from '../../../../objects/cel/index.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes } from '../../attributes.js';
import { inEvaluationTurn } from '../../expressions/expression-run.js';
import { authorizerVariables } from '../../expressions/match-conditions.js';
import { type ExpressionInput, requestVariables } from '../../expressions/request-variables.js';
import { ResourceVersions } from '../../matching/resource-versions.js';
import { VersionedObjects } from '../../matching/versioned-objects.js';
import { type Bound, BoundPolicies } from '../../policies/bound-policies.js';
import { exemptResources } from '../../policies/exempt-resources.js';
import { LazyVariables, namespaceValue } from '../../policies/lazy-variables.js';
import { PolicyMetrics } from '../../policies/policy-metrics.js';
import { PolicyParams } from '../../policies/policy-params.js';
import { type CompiledPolicy, type CompiledPolicyBinding, compiledBinding, compiledPolicy } from './compiled-policy.js';
import { decide, type PolicyAnnotation, type PolicyDecision, policyFailure } from './policy-decisions.js';

type Pair = Bound<CompiledPolicy, CompiledPolicyBinding>;

type Dependencies = Pick<
  AdmissionDependencies,
  'names' | 'authorizer' | 'namespaces' | 'objects' | 'listers' | 'laterListers' | 'registry' | 'metrics'
>;

/** A refusal, with its origin. */
interface Denial {
  readonly pair: Pair;
  readonly decision: PolicyDecision;
}

/**
 * Validates requests with expressions that clients write (specification 5.5). A request is checked by every policy with
 * a binding that matches; the actions of the binding define the consequence of a violation. Policies come from the
 * cache, so that a change is in force on every process as soon as it has arrived there.
 */
export class ValidatingAdmissionPolicyPlugin implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy';
  private readonly policies: BoundPolicies<CompiledPolicy, CompiledPolicyBinding>;
  private readonly params: PolicyParams;
  private readonly versions: ResourceVersions;
  private readonly isExempt: ReturnType<typeof exemptResources>;
  private readonly metrics: PolicyMetrics;
  private readonly annotationPrefix: string;

  constructor(private readonly dependencies: Dependencies) {
    const { listers, laterListers, names, registry, objects, namespaces, authorizer, metrics } = dependencies;
    this.versions = new ResourceVersions(registry);
    const matching = { namespaces, versions: this.versions };
    this.policies = new BoundPolicies(
      listers,
      names,
      { policies: 'validatingadmissionpolicies', bindings: 'validatingadmissionpolicybindings' },
      {
        policy: (object) => compiledPolicy(object, matching, authorizer),
        binding: (object) => compiledBinding(object, matching),
      },
    );
    this.params = new PolicyParams(laterListers, registry, objects);
    this.isExempt = exemptResources(names);
    this.metrics = new PolicyMetrics('validating', metrics.registry);
    this.annotationPrefix = `validation.policy.admission.${names.suffix}/`;
  }

  handles(): boolean {
    return true;
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const pairs = this.policies.all();
    if (pairs === undefined || this.isExempt(attributes.resource)) return undefined;
    return this.check(pairs, attributes);
  }

  private async check(pairs: readonly Pair[], attributes: AdmissionAttributes): Promise<void> {
    const objects = new VersionedObjects(attributes, this.versions);
    const outcome = new Outcome(attributes, this.annotationPrefix, this.metrics);
    let namespace: Value | undefined;
    for (const pair of pairs) {
      const { policy, binding } = pair;
      const matched = await policy.matcher.match(attributes);
      if (matched === undefined) continue;
      if (binding.matcher !== undefined && (await binding.matcher.match(attributes)) === undefined) continue;
      namespace ??= await this.namespaceOf(attributes);
      await objects.prepare(matched);
      await this.apply(pair, { attributes, ...matched, ...objects.as(matched) }, namespace, outcome);
    }
    outcome.end();
  }

  /** The namespace of the request, for `namespaceObject`. */
  private async namespaceOf({ namespace, resource }: AdmissionAttributes): Promise<Value> {
    if (namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return null;
    return namespaceValue((await this.dependencies.namespaces.get(namespace))?.object);
  }

  private async apply(pair: Pair, input: ExpressionInput, namespaceObject: Value, outcome: Outcome): Promise<void> {
    const { policy, binding } = pair;
    const began = performance.now();
    const found = await this.params.find(policy.spec.paramKind, binding.spec.paramRef, input.attributes.namespace);
    if ('fault' in found) {
      const part = found.isOfPolicy === true ? 'policy' : 'binding';
      const failure = {
        ...policyFailure(`failed to configure ${part}: ${found.fault}`, 'invalid_error'),
        isOfPolicy: found.isOfPolicy === true,
      };
      if (policy.failsClosed) outcome.add(pair, { decisions: [failure], annotations: [] }, began);
      return;
    }
    if (found.params === 'skip') return;
    const expressions = await policy.expressions;
    const { variables: sources, conditions } = expressions;
    const basics = { ...requestVariables(input), ...authorizerVariables(this.dependencies.authorizer, input) };
    for (const param of found.params) {
      const params = ((await inEvaluationTurn(param)) ?? null) as Value;
      const matches = await conditions.matches(input, { params });
      if (matches === 'no match') continue;
      if (matches !== 'match') {
        const failure = policyFailure(matches.error, 'invalid_error');
        if (policy.failsClosed) outcome.add(pair, { decisions: [failure], annotations: [] }, began);
        continue;
      }
      const variables = new LazyVariables(sources);
      variables.scope = { ...basics, params, namespaceObject, variables };
      outcome.add(pair, await decide(policy, expressions, variables.scope), began);
    }
  }
}

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 };

/** The results of all policies together for one request. */
class Outcome {
  private readonly denials: Denial[] = [];
  private readonly failures: Readonly<Record<string, unknown>>[] = [];
  private readonly annotations = new Map<string, string[]>();

  constructor(
    private readonly attributes: AdmissionAttributes,
    private readonly annotationPrefix: string,
    private readonly metrics: PolicyMetrics,
  ) {}

  add(
    pair: Pair,
    {
      decisions,
      annotations,
    }: { readonly decisions: readonly PolicyDecision[]; readonly annotations: readonly PolicyAnnotation[] },
    began: number,
  ): void {
    const seconds = (performance.now() - began) / 1000;
    const { policy, binding } = pair;
    for (const decision of decisions) {
      const actions = decision.denied ? (binding.spec.validationActions ?? []) : ['allow'];
      for (const action of actions) {
        this.metrics.checked(policy.name, binding.name, action.toLowerCase(), decision.errorType, seconds);
        if (decision.denied) this.act(action, pair, decision);
      }
    }
    for (const { key, value } of annotations) {
      const full = `${policy.name}/${key}`;
      const values = this.annotations.get(full) ?? [];
      if (!values.includes(value)) values.push(value);
      this.annotations.set(full, values);
    }
  }

  private act(action: string, pair: Pair, decision: PolicyDecision): void {
    const policy = pair.policy.name;
    const binding = pair.binding.name;
    switch (action) {
      case 'Deny':
        this.denials.push({ pair, decision });
        break;
      case 'Audit':
        this.failures.push({
          message: decision.message,
          policy,
          binding,
          expressionIndex: decision.index ?? 0,
          validationActions: pair.binding.spec.validationActions ?? [],
        });
        break;
      case 'Warn':
        addWarning(
          this.attributes.context,
          `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${decision.message}`,
        );
    }
  }

  /** Records the annotations, and refuses the request if a policy denies it. */
  end(): void {
    const { auditAnnotations } = this.attributes.context;
    for (const [key, values] of this.annotations) auditAnnotations.set(key, values.join(', '));
    if (this.failures.length > 0) {
      auditAnnotations.set(`${this.annotationPrefix}validation_failure`, JSON.stringify(this.failures));
    }
    const [first] = this.denials;
    if (first !== undefined) throw this.refusal(first);
  }

  private refusal({ pair: { policy, binding }, decision }: Denial): StatusError {
    const { resource, name, object } = this.attributes;
    const place = decision.isOfPolicy === true ? '' : ` with binding '${binding.name}'`;
    const text = `ValidatingAdmissionPolicy '${policy.name}'${place} denied request: ${decision.message}`;
    const shown = name || (object?.metadata.generateName ?? '');
    const { message, details } = forbiddenError(resource, shown, text, [{ message: text }]);
    const reason = decision.reason === '' ? 'Invalid' : decision.reason;
    return new StatusError(reason as StatusReason, message, { code: codes[reason] ?? 422, details });
  }
}
