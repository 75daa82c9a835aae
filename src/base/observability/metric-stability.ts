/**
 * Names of metrics by the stability that release 1.37 gives them. Metrics that only this program has are not listed.
 */
const names = {
  STABLE: `
    cronjob_controller_job_creation_skew_duration_seconds job_controller_job_pods_finished_total
    job_controller_job_sync_duration_seconds job_controller_job_syncs_total
    job_controller_jobs_finished_total node_collector_evictions_total scheduler_pending_pods
    scheduler_pod_scheduling_attempts scheduler_preemption_attempts_total scheduler_preemption_victims
    scheduler_schedule_attempts_total scheduler_scheduling_attempt_duration_seconds
    apiserver_admission_controller_admission_duration_seconds
    apiserver_admission_step_admission_duration_seconds
    apiserver_admission_webhook_admission_duration_seconds apiserver_current_inflight_requests
    apiserver_longrunning_requests apiserver_request_duration_seconds apiserver_request_total
    apiserver_requested_deprecated_apis apiserver_response_sizes apiserver_storage_objects
    apiserver_storage_size_bytes kubernetes_healthcheck kubernetes_healthchecks_total
  `,
  BETA: `
    disabled_metrics_total endpoint_slice_controller_desired_endpoint_slices
    endpoint_slice_controller_endpoints_added_per_sync endpoint_slice_controller_endpoints_desired
    endpoint_slice_controller_endpoints_removed_per_sync endpoint_slice_controller_num_endpoint_slices
    endpoint_slice_controller_services_count_by_traffic_distribution hidden_metrics_total
    horizontal_pod_autoscaler_controller_metric_computation_duration_seconds
    horizontal_pod_autoscaler_controller_metric_computation_total
    horizontal_pod_autoscaler_controller_reconciliation_duration_seconds
    horizontal_pod_autoscaler_controller_reconciliations_total scheduler_pod_scheduling_sli_duration_seconds
    scheduler_scheduling_algorithm_duration_seconds scheduler_unschedulable_pods
    apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds
    apiserver_authentication_config_controller_automatic_reloads_total
    apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds
    apiserver_authorization_config_controller_automatic_reloads_total
    apiserver_cel_compilation_duration_seconds apiserver_cel_evaluation_duration_seconds
    apiserver_flowcontrol_current_executing_requests apiserver_flowcontrol_current_executing_seats
    apiserver_flowcontrol_current_inqueue_requests apiserver_flowcontrol_dispatched_requests_total
    apiserver_flowcontrol_nominal_limit_seats apiserver_flowcontrol_rejected_requests_total
    apiserver_flowcontrol_request_wait_duration_seconds
    apiserver_validating_admission_policy_check_duration_seconds
    apiserver_validating_admission_policy_check_total apiserver_watch_events_sizes
    apiserver_storage_events_received_total apiserver_watch_events_total
    apiserver_watch_list_duration_seconds kubernetes_build_info kubernetes_feature_enabled
    registered_metrics_total
    serviceaccount_legacy_tokens_total serviceaccount_stale_tokens_total serviceaccount_valid_tokens_total
    workqueue_adds_total workqueue_depth workqueue_longest_running_processor_seconds
    workqueue_queue_duration_seconds workqueue_retries_total workqueue_unfinished_work_seconds
    workqueue_work_duration_seconds
  `,
  ALPHA: `
    apiserver_envelope_encryption_kms_operations_latency_seconds
    apiserver_init_events_total apiserver_request_filter_duration_seconds
    apiserver_storage_list_duration_seconds apiserver_storage_list_fetched_objects_total
    apiserver_storage_list_total apiserver_watch_cache_consistent_read_total
    apiserver_watch_cache_events_dispatched_total apiserver_watch_cache_read_wait_seconds
    authentication_token_cache_active_fetch_count authentication_token_cache_fetch_total
    authentication_token_cache_request_duration_seconds clustertrustbundle_publisher_sync_duration_seconds
    clustertrustbundle_publisher_sync_total device_taint_eviction_controller_pod_deletion_duration_seconds
    device_taint_eviction_controller_pod_deletions_total endpoint_slice_controller_changes
    endpoint_slice_controller_endpointslices_changed_per_sync endpoint_slice_controller_syncs
    field_validation_request_duration_seconds garbagecollector_controller_resources_sync_error_total
    horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers
    job_controller_job_pods_creation_total leader_election_master_status
    node_collector_unhealthy_nodes_in_zone node_collector_zone_health node_collector_zone_size
    root_ca_cert_publisher_sync_duration_seconds root_ca_cert_publisher_sync_total scheduler_cache_size
    taint_eviction_controller_pod_deletion_duration_seconds taint_eviction_controller_pod_deletions_total
    ttl_after_finished_controller_job_deletion_duration_seconds
    aggregator_unavailable_apiservice aggregator_unavailable_apiservice_total
    apiserver_admission_webhook_fail_open_count apiserver_admission_webhook_rejection_count
    apiserver_admission_webhook_request_total apiserver_audit_error_total apiserver_audit_event_total
    apiserver_audit_level_total apiserver_audit_requests_rejected_total
    apiserver_authorization_decisions_total apiserver_authorization_match_condition_evaluation_errors_total
    apiserver_authorization_match_condition_exclusions_total
    apiserver_authorization_webhook_evaluations_fail_open_total
    apiserver_client_certificate_expiration_seconds apiserver_conversion_webhook_duration_seconds
    apiserver_conversion_webhook_request_total apiserver_crd_conversion_webhook_duration_seconds
    apiserver_current_inqueue_requests
    apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds
    apiserver_encryption_config_controller_automatic_reloads_total
    apiserver_flowcontrol_current_inqueue_seats apiserver_flowcontrol_current_limit_seats
    apiserver_flowcontrol_current_r
    apiserver_flowcontrol_demand_seats_average apiserver_flowcontrol_demand_seats_high_watermark
    apiserver_flowcontrol_demand_seats_smoothed apiserver_flowcontrol_demand_seats_stdev
    apiserver_flowcontrol_dispatch_r apiserver_flowcontrol_latest_s apiserver_flowcontrol_lower_limit_seats
    apiserver_flowcontrol_next_discounted_s_bounds apiserver_flowcontrol_next_s_bounds
    apiserver_flowcontrol_request_dispatch_no_accommodation_total
    apiserver_flowcontrol_request_execution_seconds apiserver_flowcontrol_request_queue_length_after_enqueue
    apiserver_flowcontrol_seat_fair_frac apiserver_flowcontrol_target_seats
    apiserver_flowcontrol_upper_limit_seats apiserver_flowcontrol_watch_count_samples
    apiserver_flowcontrol_work_estimated_seats apiserver_mutating_admission_policy_check_duration_seconds
    apiserver_mutating_admission_policy_check_total apiserver_request_aborts_total
    apiserver_request_body_size_bytes apiserver_request_post_timeout_total
    apiserver_request_sli_duration_seconds apiserver_request_terminations_total
    apiserver_terminated_watchers_total apiserver_tls_handshake_errors_total
    attach_detach_controller_attachdetach_controller_forced_detaches authenticated_user_requests
    authentication_attempts authentication_duration_seconds authentication_token_cache_request_total
    authorization_attempts_total authorization_duration_seconds
    etcd_request_duration_seconds etcd_request_errors_total etcd_requests_total
    ephemeral_volume_controller_create_failures_total ephemeral_volume_controller_create_total
    apiserver_resource_objects apiserver_watch_cache_events_received_total
    apiserver_watch_cache_initialization_duration_seconds apiserver_watch_cache_initializations_total
    apiserver_watch_cache_resource_version
    pod_security_evaluations_total pod_security_exemptions_total rest_client_request_duration_seconds
    rest_client_requests_total serviceaccount_invalid_legacy_auto_token_uses_total
    serviceaccount_legacy_auto_token_uses_total serviceaccount_legacy_manual_token_uses_total version_info
  `,
} as const;

const stabilities: ReadonlyMap<string, string> = new Map(
  Object.entries(names).flatMap(([stability, list]) =>
    list
      .trim()
      .split(/\s+/)
      .map((name): [string, string] => [name, stability]),
  ),
);

/** The stability that the release gives a metric; undefined for metrics that only this program has. */
export function stabilityOf(name: string): string | undefined {
  return stabilities.get(name);
}

/** The scrape with the stability, such as `[STABLE]`, at the start of the help of each metric that the release has. */
export function markStability(text: string): string {
  return text.replaceAll(/^# HELP (\S+) /gm, (line, name: string) => {
    const stability = stabilityOf(name);
    return stability === undefined ? line : `${line}[${stability}] `;
  });
}
