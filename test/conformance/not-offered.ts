// What the official suite asks for and the product does not offer, each with its reason: the checks that fail without fixtures, and no other.
import type { Revision } from './suite.ts'

export interface NotOffered {
  readonly reason: string
  /** What the suite says then: a check that fails for another reason is a fault. */
  readonly says: RegExp
  /** Ids of checks, by revision and scenario. */
  readonly checks: { readonly [R in Revision]?: Readonly<Record<string, readonly string[]>> }
}

export const NOT_OFFERED: readonly NotOffered[] = [
  {
    reason:
      'The suite calls tools, prompts and resources that it names itself. Those of the product are called by test/contract/mcp-wire.test.ts and mcp-offers.test.ts.',
    says: /Unknown tool|no such prompt|no such resource|not found/,
    checks: {
      '2025-11-25': {
        'completion-complete': ['completion-complete'],
        'json-schema-2020-12': ['json-schema-2020-12-tool-found'],
        'prompts-get-embedded-resource': ['prompts-get-embedded-resource'],
        'prompts-get-simple': ['prompts-get-simple'],
        'prompts-get-with-args': ['prompts-get-with-args'],
        'prompts-get-with-image': ['prompts-get-with-image'],
        'resources-read-binary': ['resources-read-binary'],
        'resources-read-text': ['resources-read-text'],
        'resources-templates-read': ['resources-templates-read'],
        'tools-call-audio': ['tools-call-audio'],
        'tools-call-embedded-resource': ['tools-call-embedded-resource'],
        'tools-call-error': ['tools-call-error'],
        'tools-call-image': ['tools-call-image'],
        'tools-call-mixed-content': ['tools-call-mixed-content'],
        'tools-call-simple-text': ['tools-call-simple-text'],
        'tools-call-with-progress': ['tools-call-with-progress'],
      },
      '2026-07-28': {
        'completion-complete': ['completion-complete'],
        'json-schema-2020-12': ['json-schema-2020-12-tool-found'],
        'prompts-get-embedded-resource': ['prompts-get-embedded-resource'],
        'prompts-get-simple': ['prompts-get-simple'],
        'prompts-get-with-args': ['prompts-get-with-args'],
        'prompts-get-with-image': ['prompts-get-with-image'],
        'resources-read-binary': ['resources-read-binary'],
        'resources-read-text': ['resources-read-text'],
        'resources-templates-read': ['resources-templates-read'],
        'tools-call-audio': ['tools-call-audio'],
        'tools-call-embedded-resource': ['tools-call-embedded-resource'],
        'tools-call-error': ['tools-call-error'],
        'tools-call-image': ['tools-call-image'],
        'tools-call-mixed-content': ['tools-call-mixed-content'],
        'tools-call-simple-text': ['tools-call-simple-text'],
        'tools-call-with-progress': ['tools-call-with-progress'],
      },
    },
  },
  {
    reason:
      'The suite looks at refusals through tools for diagnosis that it names itself: one that needs a capability of the client, one that asks back, one that logs.',
    says: /does not list the diagnostic tool/,
    checks: {
      '2026-07-28': {
        'server-stateless': [
          'sep-2575-http-server-no-independent-requests-on-stream',
          'sep-2575-missing-capability-http-400',
          'sep-2575-server-no-log-without-loglevel',
          'sep-2575-server-rejects-undeclared-capability',
        ],
      },
    },
  },
  {
    reason: 'The gateway asks its client for nothing: no tool samples, elicits or wants roots.',
    says: /Unknown tool|no such prompt|Expected InputRequiredResult|Prerequisite failed/,
    checks: {
      '2025-11-25': {
        'elicitation-sep1034-defaults': ['elicitation-sep1034-general'],
        'elicitation-sep1330-enums': ['elicitation-sep1330-general'],
        'tools-call-elicitation': ['tools-call-elicitation'],
        'tools-call-sampling': ['tools-call-sampling'],
      },
      '2026-07-28': {
        'input-required-result-basic-elicitation': ['sep-2322-elicitation-incomplete'],
        'input-required-result-basic-list-roots': ['sep-2322-list-roots-incomplete'],
        'input-required-result-basic-sampling': ['sep-2322-sampling-incomplete'],
        'input-required-result-capability-check': ['sep-2322-respect-client-capabilities'],
        'input-required-result-multi-round': ['sep-2322-multi-round-r1'],
        'input-required-result-multiple-input-requests': ['sep-2322-multiple-inputs-incomplete'],
        'input-required-result-non-tool-request': ['sep-2322-non-tool-incomplete'],
        'input-required-result-request-state': ['sep-2322-request-state-incomplete'],
        'input-required-result-result-type': ['sep-2322-result-type-included'],
        'input-required-result-tampered-state': ['sep-2322-reject-tampered-state'],
      },
    },
  },
  {
    reason: 'Logging is deprecated since 2026-07-28, and the gateway writes its log for its operator.',
    says: /Method not found/,
    checks: {
      '2025-11-25': {
        'logging-set-level': ['logging-set-level'],
        'tools-call-with-logging': ['tools-call-with-logging'],
      },
    },
  },
  {
    reason:
      'Resources do not change while the gateway runs, so there is nothing to subscribe to; `subscribe` is not declared.',
    says: /Method not found/,
    checks: {
      '2025-11-25': {
        'resources-subscribe': ['resources-subscribe'],
        'resources-unsubscribe': ['resources-unsubscribe'],
      },
    },
  },
  {
    reason: 'No tool has an argument that travels in a header of its own (x-mcp-header).',
    says: /Not testable/,
    checks: {
      '2026-07-28': {
        'http-custom-header-server-validation': [
          'sep-2243-server-decode-base64',
          'sep-2243-server-no-xmcp-tool',
          'sep-2243-server-reject-invalid-param-chars',
          'sep-2243-server-reject-param-mismatch',
          'sep-2243-server-validate-param-match',
        ],
      },
    },
  },
  {
    reason:
      'The extension io.modelcontextprotocol/tasks is not offered: the official SDK has no server side for it (2.4.0). The suite does not score it.',
    says: /Unknown tool|Not testable|MUST be present|-32601|-32021|unavailable/,
    checks: {
      '2026-07-28': {
        'tasks-capability-negotiation': [
          'sep-2663-server-rejects-undeclared-client',
          'sep-2663-tasks-methods-non-declaring',
          'tasks-extension-advertised',
          'tasks-per-request-meta-opt-in',
        ],
        'tasks-dispatch-and-envelope': [
          'sep-2663-durable-create-strong-consistency',
          'sep-2663-legacy-task-param-ignored',
          'sep-2663-tasks-get-invalid-task-id-32602',
          'tasks-immediate-result-shortcut',
          'tasks-result-type-complete-on-non-task-responses',
          'tasks-server-directed-creation-no-hint',
        ],
        'tasks-lifecycle': [
          'sep-2663-cancel-ack-empty-result',
          'sep-2663-result-type-task-on-create',
          'sep-2663-tasks-get-status-completed',
          'sep-2663-tasks-get-status-failed',
          'sep-2663-tasks-get-status-working',
          'sep-2663-tool-error-uses-completed-status',
          'tasks-cancel-terminal-idempotent-ack',
          'tasks-sync-tool-call',
        ],
        'tasks-mrtr-composition': ['sep-2663-mrtr-synchronous-before-task-creation'],
        'tasks-mrtr-input': [
          'sep-2663-tasks-get-status-input-required',
          'tasks-mrtr-partial-fulfillment',
          'tasks-mrtr-tasks-update-resumes',
        ],
        'tasks-request-headers': [
          'sep-2663-routing-headers-accepted-on-tasks-get',
          'sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
          'tasks-headers-tolerate-mcp-method-on-tools-call',
        ],
        'tasks-request-state-removal': ['tasks-request-state-removal-setup'],
        'tasks-required-task-error': ['sep-2663-server-returns-missing-capability-when-required'],
        'tasks-wire-fields': [
          'tasks-no-early-ttl-expiry',
          'tasks-no-related-task-meta-on-inlined-result',
          'tasks-wire-field-renames',
        ],
      },
    },
  },
]
