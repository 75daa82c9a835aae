import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { markStability } from './metric-stability.js';
import { Metrics } from './metrics.js';

describe('stability of metrics', () => {
  it('stands in the help of those that the field knows, and of no others', async () => {
    const { text } = await new Metrics().scrape();
    assert.match(text, /^# HELP apiserver_request_total \[STABLE\] \S/m);
    assert.match(text, /^# HELP workqueue_depth \[BETA\] \S/m);
    assert.match(text, /^# HELP apiserver_tls_handshake_errors_total \[ALPHA\] \S/m);
    assert.match(text, /^# HELP nodejs_version_info [^[]/m);
    assert.doesNotMatch(text, /^# HELP (plinth|nodejs)_\w+ \[/m);
    assert.match((await new Metrics().scrape('slis')).text, /^# HELP kubernetes_healthcheck \[STABLE\] /m);
  });

  it('leaves everything else as it is', () => {
    const text =
      'apiserver_request_total{a="# HELP apiserver_request_total x"} 1\n# TYPE apiserver_request_total counter\n';
    assert.equal(markStability(text), text);
  });
});
