import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import { type Asked, readAnswer } from './review-answer.js';
import { hookRefusal } from './webhook-refusal.js';

const group = 'admission.example.dev';
const mutating: Asked = { uid: 'u', version: 'v1', group, hook: 'mutating' };
const validating: Asked = { ...mutating, hook: 'validating' };
const old: Asked = { ...mutating, version: 'v1beta1' };

const base64 = (text: string) => Buffer.from(text).toString('base64');
const patch = base64('[{"op":"add","path":"/data","value":{}}]');
const patched = { patchType: 'JSONPatch', patch };

function review(response: unknown, fields: object = {}): string {
  return JSON.stringify({ apiVersion: `${group}/v1`, kind: 'AdmissionReview', response, ...fields });
}
const allowed = (fields: object = {}) => review({ uid: 'u', allowed: true, ...fields });
const allowedOld = (fields: object = {}) => review({ allowed: true, ...fields }, { apiVersion: `${group}/v1beta1` });

describe('the answer of a hook', () => {
  it('is read with everything in it', async () => {
    const answer = await readAnswer(
      allowed({ ...patched, warnings: ['w'], auditAnnotations: { k: 'v' }, status: { code: 418 } }),
      mutating,
    );
    assert.deepEqual(answer.patch, [{ op: 'add', path: '/data', value: {} }]);
    assert.deepEqual(answer.warnings, ['w']);
    assert.deepEqual(answer.auditAnnotations, { k: 'v' });
    assert.equal(answer.allowed, true);
    assert.equal(answer.status?.code, 418);
    const bare = await readAnswer(review({ uid: 'u' }), validating);
    const nothing = { patch: [], patchLength: 0, warnings: [], auditAnnotations: {} };
    assert.deepEqual(bare, { allowed: false, status: undefined, ...nothing });
  });

  it('may leave out more in v1beta1', async () => {
    assert.equal((await readAnswer('{"response":{"allowed":true}}', old)).allowed, true);
    assert.equal((await readAnswer(allowedOld({ patch }), old)).patch.length, 1);
    assert.deepEqual((await readAnswer(allowedOld(patched), { ...old, hook: 'validating' })).patch, []);
  });

  it('keeps large patches and the spelling of their numbers', async () => {
    const operations = Array.from({ length: 9000 }, (_, i) => `{"op":"add","path":"/a${i}","value":1.50}`);
    const answer = await readAnswer(allowed({ ...patched, patch: base64(`[${operations.join()}]`) }), mutating);
    assert.equal(answer.patch.length, 9000);
    assert.match(JSON.stringify(answer.patch[8999]), /"value":1\.50/);
  });

  it('is read around whatever else is in it', async () => {
    const junk = Array.from({ length: 40_000 }, () => ({}));
    const response = { uid: 'u', allowed: true, ...patched, warnings: ['w'], junk };
    const answer = await readAnswer(` ${review(response, { junk })}\n`, mutating);
    assert.deepEqual([answer.allowed, answer.patch.length, answer.warnings], [true, 1, ['w']]);
  });

  it('does not hold up others, however much is in it', async () => {
    const count = 400_000;
    const junk = Array.from({ length: count }, () => ({}));
    const texts = Array.from({ length: count }, (_, i) => `w${i}`);
    const annotations = Object.fromEntries(texts.map((text) => [text, 'v']));
    for (const [answer, isTooMuch] of [
      [allowed({ junk }), false],
      [review({ uid: 'u', allowed: true }, { junk }), false],
      [allowed({ warnings: texts }), true],
      [allowed({ auditAnnotations: annotations }), true],
      [allowed({ status: { details: junk } }), true],
      [allowed({ patchType: 'JSONPatch', patch: junk }), true],
    ] as const) {
      let outcome: unknown;
      let longest = 0;
      const reading = readAnswer(answer, mutating).then(
        (read) => {
          outcome = read;
        },
        (error: unknown) => {
          outcome = error;
        },
      );
      for (let before = process.threadCpuUsage(); outcome === undefined; before = process.threadCpuUsage()) {
        await nextRound();
        longest = Math.max(longest, process.threadCpuUsage(before).user / 1000);
      }
      await reading;
      assert.equal(outcome instanceof WebhookFault && /more than 262144 characters/.test(outcome.message), isTooMuch);
      assert.ok(longest < 80, `one round took ${longest} ms`);
    }
  });

  const faults: [string, string, Asked, RegExp][] = [
    ['no JSON', '<html>', mutating, /^failed to call webhook: the answer is not JSON$/],
    ['a list', '[]', mutating, /^failed to call webhook: the answer is not a JSON object$/],
    ['nothing', 'null', mutating, /^failed to call webhook: the answer is not a JSON object$/],
    ['deep nesting', '['.repeat(100_000), mutating, /^failed to call webhook: the answer is not a JSON object$/],
    ['no response', review(undefined), mutating, /^received invalid webhook response: webhook response was absent$/],
    ['null as response', review(null), mutating, /^received invalid webhook response: webhook response was absent$/],
    [
      'another uid',
      review({ uid: 'o', allowed: true }),
      mutating,
      /^received invalid webhook response: expected response\.uid="u", got "o"$/,
    ],
    [
      'no uid',
      review({ allowed: true }),
      mutating,
      /^received invalid webhook response: expected response\.uid="u", got ""$/,
    ],
    [
      'another uid in v1beta1',
      allowedOld({ uid: 'o' }),
      old,
      /^received invalid webhook response: expected response\.uid="u", got "o"$/,
    ],
    [
      'another kind',
      review({ uid: 'u', allowed: true }, { kind: 'Pod' }),
      mutating,
      /^received invalid webhook response: expected webhook response of admission\.example\.dev\/v1, Kind=AdmissionReview, got .*, Kind=Pod$/,
    ],
    [
      'another version',
      allowedOld({ uid: 'u' }),
      mutating,
      /^received invalid webhook response: expected webhook response of .*got .*v1beta1/,
    ],
    [
      'a version of its own',
      allowed(),
      old,
      /^received invalid webhook response: expected webhook response of .*v1beta1, Kind=AdmissionReview, got/,
    ],
    [
      'a version that is no text',
      '{"apiVersion":{"toString":1},"kind":[{"valueOf":1,"toString":1}],"response":{"uid":"u"}}',
      mutating,
      /^received invalid webhook response: expected webhook response of .*, got a value of type object, Kind=a value of type object$/,
    ],
    [
      'no version',
      '{"response":{"uid":"u"}}',
      mutating,
      /^received invalid webhook response: expected webhook response of .*, got \/, Kind=$/,
    ],
    [
      'a text for allowed',
      review({ uid: 'u', allowed: 'yes' }),
      mutating,
      /^failed to call webhook: the answer is not an AdmissionReview: resp/,
    ],
    [
      'a number as warning',
      allowed({ warnings: [1] }),
      mutating,
      /^failed to call webhook: the answer is not an AdmissionReview: response\.w/,
    ],
    [
      'a text as status',
      allowed({ status: 'no' }),
      mutating,
      /^failed to call webhook: the answer is not an AdmissionReview: response\.st/,
    ],
    ['a patch that is no base64', allowed({ ...patched, patch: '%' }), mutating, /AdmissionReview: response\.patch/],
    [
      'a patch without type',
      allowed({ patch }),
      mutating,
      /^received invalid webhook response: webhook returned response\.patch but not response\.patchT/,
    ],
    [
      'a type without patch',
      allowed({ patchType: 'JSONPatch' }),
      mutating,
      /^received invalid webhook response: webhook returned response\.patchType but n/,
    ],
    [
      'a patch of another type',
      allowed({ patch, patchType: 'MergePatch' }),
      mutating,
      /^unsupported patch type "Merge/,
    ],
    [
      'a patch that is no JSON',
      allowed({ ...patched, patch: base64('x') }),
      mutating,
      /^the patch of the answer is not J/,
    ],
    [
      'a patch that is no list',
      allowed({ ...patched, patch: base64('{}') }),
      mutating,
      /^the patch of the answer is not a/,
    ],
    [
      'a patch of a validating hook',
      allowed(patched),
      validating,
      /^received invalid webhook response: validating webhook may not return response\.patch$/,
    ],
    [
      'its type',
      allowed({ patchType: 'JSONPatch' }),
      validating,
      /^received invalid webhook response: validating webhook may not return response\.patchType$/,
    ],
  ];
  for (const [what, text, asked, expected] of faults) {
    it(`is refused: ${what}`, async () => {
      await assert.rejects(readAnswer(text, asked), (error) => {
        assert.ok(error instanceof WebhookFault, String(error));
        assert.match(error.message, expected);
        return true;
      });
    });
  }
});

describe('the refusal of a hook', () => {
  const denied = 'admission webhook "h.x.y" denied the request';
  const cases: [Parameters<typeof hookRefusal>[1], number, string, string, hookCode?: number][] = [
    [undefined, 400, '', `${denied} without explanation`],
    [{}, 400, '', `${denied} without explanation`],
    [{ message: 'no' }, 400, '', `${denied}: no`],
    [{ code: 200, message: 'no' }, 400, '', `${denied}: no`],
    [{ code: 399 }, 400, '', `${denied} without explanation`],
    [{ code: 418, message: 'no' }, 418, '', `${denied}: no`],
    [{ code: 403, reason: 'Forbidden' }, 403, 'Forbidden', `${denied}: Forbidden`],
    [{ code: 599 }, 599, '', `${denied} without explanation`],
    [{ code: 700 }, 500, '', `${denied} without explanation`, 700],
    [{ code: -1 }, 400, '', `${denied} without explanation`],
  ];
  for (const [status, code, reason, message, hookCode = code] of cases) {
    it(`${JSON.stringify(status)} is a ${code}`, () => {
      const refusal = hookRefusal('h.x.y', status);
      assert.deepEqual([refusal.code, refusal.reason, refusal.message], [code, reason, message]);
      // The metrics show the hook's own code.
      assert.equal(refusal.hookCode, hookCode);
      assert.equal(refusal.toStatus().status, 'Failure');
    });
  }
});
