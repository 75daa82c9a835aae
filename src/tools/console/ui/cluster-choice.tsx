import { logins, shownCluster, switchCluster } from './session.js';

/** Which cluster the page shows, where there are several: each has a login of its own. */
export function ClusterChoice() {
  const names = logins.value?.clusters ?? [];
  if (names.length < 2) return null;
  return (
    <label class="cluster">
      <span class="unseen">Cluster</span>
      <select
        aria-label="Cluster"
        title="The cluster: each has a login of its own"
        value={shownCluster()}
        onChange={(event) => switchCluster(event.currentTarget.value)}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
