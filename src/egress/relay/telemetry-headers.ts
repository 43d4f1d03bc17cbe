// Which headers of a program tell how one try came about and nothing about the request: its count, its time, its trace, its library. Two
// tries of one request differ in them. Whatever is not named here is a part of the request, since it may choose an account.

const NAMES = new Set(
  // Times.
  (
    'date x-amz-date x-ms-date ' +
    // Libraries, which count their tries in some of them (Google's does in x-goog-api-client).
    'user-agent x-amz-user-agent x-goog-api-client retry-attempt x-retry-count ' +
    // Ids of one try, for the logs of both sides.
    'request-id x-request-id x-correlation-id x-client-request-id client-request-id x-ms-client-request-id ' +
    // Traces.
    'traceparent tracestate baggage b3 sentry-trace uber-trace-id x-amzn-trace-id x-cloud-trace-context x-datadog-trace-id ' +
    'x-datadog-parent-id x-datadog-sampling-priority x-datadog-tags x-datadog-origin newrelic elastic-apm-traceparent langsmith-trace ' +
    // A WebSocket draws one for each handshake.
    'sec-websocket-key'
  ).split(' '),
)
/** Of the libraries of OpenAI and Anthropic, of Stripe, of AWS, and of Zipkin. */
const PREFIXED = /^(?:x-stainless|x-stripe-client|amz-sdk|x-b3)-/

/** Whether a header, by its lower-case name, may differ between two tries of one request. */
export const isTelemetry = (name: string): boolean => NAMES.has(name) || PREFIXED.test(name)
