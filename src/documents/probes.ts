// The two addresses that a process manager and a load balancer ask: the words of the documents, and the form of the answers. They are no
// tools: nothing is limited, counted, logged or queued there, so that a gateway that is full is not taken for a dead one.

export const LIVE_PATH = '/livez'
export const READY_PATH = '/readyz'

/** What does not work, and what that keeps callers from. Both are fixed words: no address, no name of a host and no error of a driver. */
export interface Trouble {
  readonly part:
    | 'starting'
    | 'draining'
    | 'database'
    | 'authority'
    | 'payments'
    | 'facilitator'
    | 'chain'
    | 'settler'
    | 'resolver'
  /** CAIP-2 name of the chain that it is about. */
  readonly network?: string
  readonly cannot: string
}

/** The body of `GET /readyz`. */
export interface ReadinessReport {
  /** `unready` goes with 503: another replica should be asked. */
  readonly status: 'ready' | 'unready'
  /** Each makes this process of no use to anybody. */
  readonly failing: readonly Trouble[]
  /** What some callers miss here, and as a rule would miss at every other replica, too. */
  readonly degraded: readonly Trouble[]
}

type Json = Record<string, unknown>

const TROUBLES: Json = {
  type: 'array',
  items: {
    type: 'object',
    required: ['part', 'cannot'],
    properties: {
      part: { type: 'string' },
      network: { type: 'string', description: 'CAIP-2 name of the chain that it is about' },
      cannot: { type: 'string', description: 'What callers cannot do' },
    },
  },
}

const READINESS: Json = {
  type: 'object',
  required: ['status', 'failing', 'degraded'],
  properties: {
    status: { type: 'string', enum: ['ready', 'unready'] },
    failing: { ...TROUBLES, description: 'What makes this process of no use to anybody' },
    degraded: { ...TROUBLES, description: 'What some callers miss' },
  },
}

const READY: ReadinessReport = { status: 'ready', failing: [], degraded: [] }
const UNREADY: ReadinessReport = {
  status: 'unready',
  failing: [
    { part: 'database', cannot: 'answer any call: the database does not answer, or takes no writes' },
  ],
  degraded: [],
}

const readiness = (description: string, value: ReadinessReport): Json => ({
  description,
  content: { 'application/json': { schema: READINESS, examples: { answer: { value } } } },
})

/** Operations of the OpenAPI document, by path. */
export const probePaths = (): Record<string, Json> => ({
  [LIVE_PATH]: {
    get: {
      operationId: 'getLiveness',
      summary: 'Liveness',
      description: '200 while the process serves. Nothing else is looked at.\n\nPrice: free.',
      tags: ['health'],
      security: [],
      responses: {
        200: {
          description: 'It serves.',
          content: { 'text/plain': { schema: { type: 'string' }, examples: { answer: { value: 'ok' } } } },
        },
        // Whoever draws clients from this document wants an error beside every success.
        '4XX': { description: 'Not with this method.' },
      },
    },
  },
  [READY_PATH]: {
    get: {
      operationId: 'getReadiness',
      summary: 'Readiness',
      description:
        '200 while calls should come here, else 503 with the parts that fail: `database`, `authority`, `draining`. What some callers ' +
        'miss, a chain among others, is under `degraded` and does not change the status. At most a second old.\n\nPrice: free.',
      tags: ['health'],
      security: [],
      responses: {
        200: readiness('Calls may come.', READY),
        '4XX': { description: 'Not with this method.' },
        503: readiness('Calls should go elsewhere.', UNREADY),
      },
    },
  },
})
