-- Annotations of a Secret: all names, and the values of a few that can only be names, kinds and addresses. The content
-- of the others is unknown: clients keep whole manifests in them, packed and encoded in any way, and hashes of short
-- values.
create or replace function plinth.secret_annotations(p_annotations jsonb) returns jsonb
language sql immutable parallel safe
return (
  select jsonb_object_agg(a.key, case
    when a.key like '%/service-account.name' or a.key like '%/service-account.uid' or a.key = any (array[
      'meta.helm.sh/release-name', 'meta.helm.sh/release-namespace', 'helm.sh/resource-policy', 'helm.sh/hook',
      'cert-manager.io/certificate-name', 'cert-manager.io/issuer-name', 'cert-manager.io/issuer-kind',
      'cert-manager.io/issuer-group', 'cert-manager.io/common-name', 'cert-manager.io/alt-names', 'cert-manager.io/ip-sans',
      'cert-manager.io/uri-sans', 'argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/sync-wave'
    ]) then a.value
    else '"(hidden)"'::jsonb
  end)
  from jsonb_each(case when jsonb_typeof(p_annotations) = 'object' then p_annotations end) a
);
