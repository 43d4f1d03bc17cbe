// The requirements that tests cite: id, level, where it is written, and what it means for this gateway, in our words.
// The A2A ids are those of the public compatibility kit, so that its report and ours can be laid side by side.
import { test } from 'vitest'

export interface Requirement {
  readonly level: 'MUST' | 'SHOULD' | 'MAY'
  /** Section of the A2A specification 1.0. */
  readonly section: string
  readonly behaviour: string
  /** Why no test of this repository can show it. */
  readonly outside?: string
}

const must = (section: string, behaviour: string): Requirement => ({ level: 'MUST', section, behaviour })
const should = (section: string, behaviour: string): Requirement => ({ level: 'SHOULD', section, behaviour })
const may = (section: string, behaviour: string): Requirement => ({ level: 'MAY', section, behaviour })
const outside = (requirement: Requirement, why: string): Requirement => ({ ...requirement, outside: why })

const NO_AUTH_STATE = 'no skill asks for authorization in the middle of a task, so the state never occurs'

export const A2A_REQUIREMENTS = {
  'CORE-SEND-001': must('3.1.1', 'a sent message is answered with a task or a message'),
  'CORE-SEND-002': must('3.1.1', 'a message to a task that has ended is refused'),
  'CORE-SEND-003': must('3.1.1', 'content of a media type no skill takes is refused'),
  'CORE-STREAM-001': must('3.1.2', 'a streaming message opens a stream'),
  'CORE-STREAM-002': must('3.1.2', 'a stream without a task is exactly one message'),
  'CORE-STREAM-003': must('3.1.2', 'a stream with a task starts with it and closes at its end'),
  'CORE-GET-001': must('3.1.3', 'a task can be read'),
  'CORE-GET-002': must('3.1.3', 'reading an unknown task says that it was not found'),
  'CORE-LIST-001': must('3.1.4', 'a list holds the tasks of the caller and no others'),
  'CORE-LIST-002': must('3.1.4', 'a list is read page by page with a cursor'),
  'CORE-LIST-003': must('3.1.4', 'a list has the newest status first'),
  'CORE-LIST-004': must('3.1.4', 'the cursor of the last page is an empty string'),
  'CORE-LIST-005': must('3.1.4', 'a list leaves artifacts out unless they are asked for'),
  'CORE-CANCEL-001': must('3.1.5', 'canceling a task at work answers with the canceled task'),
  'CORE-CANCEL-002': must('3.1.5', 'a task that has ended cannot be canceled'),
  'CORE-CANCEL-003': must('3.1.5', 'canceling an unknown task says that it was not found'),
  'CORE-EXECUTION-MODE-001': must('3.2.2', 'a blocking send answers when the task is at rest'),
  'CORE-EXECUTION-MODE-002': must('3.2.2', 'a send that asks not to wait is answered at once'),
  'CORE-HIST-001': should('3.2.4', 'a read with historyLength 0 has no history'),
  'CORE-HIST-002': must('3.2.4', 'a history is never longer than asked for'),
  'CORE-HIST-003': should('3.2.4', 'a send with historyLength 0 is answered without history'),
  'CORE-HIST-004': may('3.2.4', 'the messages of a task are kept'),
  'CORE-HIST-005': should('3.2.4', 'a history is in order of time'),
  'CORE-HIST-006': should('3.2.4', 'a history holds what was sent'),
  'CORE-ERR-001': must('3.3.2', 'an error says what to do about it'),
  'CORE-ERR-002': must('3.3.2', 'every parameter is validated before anything is done'),
  'CORE-CAP-001': must('3.3.4', 'push notifications, which are not declared, are refused'),
  'CORE-CAP-002': outside(must('3.3.4', 'undeclared streaming is refused'), 'streaming is declared'),
  'CORE-CAP-003': outside(must('3.3.4', 'an undeclared extended card is refused'), 'it is declared'),
  'CORE-CAP-004': outside(
    must('3.3.4', 'a missing required extension is refused'),
    'no extension is required',
  ),
  'CORE-MULTI-001': may('3.4.1', 'a message without a context gets one'),
  'CORE-MULTI-001a': must('3.4.1', 'a generated context id is in the answer'),
  'CORE-MULTI-002': may('3.4.1', "a client's own context id is taken over"),
  'CORE-MULTI-002a': must('3.4.1', 'a context id that cannot be accepted is refused, not replaced'),
  'CORE-MULTI-003': must('3.4.2', 'every new task has an id of its own'),
  'CORE-MULTI-004': must('3.4.2', 'a message to an unknown task says that it was not found'),
  'CORE-MULTI-005': must('3.4.3', 'the context of a follow-up is that of its task'),
  'CORE-MULTI-006': must('3.4.3', 'a follow-up with the context of another task is refused'),
  'STREAM-ORDER-001': must('3.5.2', 'events arrive in the order in which they happened'),
  'STREAM-ORDER-002': must('3.5.2', 'every open stream of a task gets its events'),
  'STREAM-ORDER-003': must('3.5.2', 'every open stream of a task gets them in the same order'),
  'STREAM-ORDER-004': must('3.5.2', 'closing one stream leaves the others alone'),
  'STREAM-SUB-001': must('3.1.6', 'a subscription starts with the task'),
  'STREAM-SUB-002': must('3.1.6', 'a subscription closes when the task ends'),
  'STREAM-SUB-003': must('3.1.6', 'a task that has ended cannot be subscribed to'),
  'STREAM-SUB-004': must('3.1.6', 'subscribing to an unknown task says that it was not found'),
  'VER-CLIENT-001': outside(must('3.6.1', 'clients name the version'), 'a duty of clients'),
  'VER-CLIENT-002': must('3.6', 'a patch number changes nothing'),
  'VER-SERVER-001': must('3.6.2', 'a request is handled as its version says'),
  'VER-SERVER-002': must('3.6.2', 'a version that is not spoken is refused as such'),
  'VER-SERVER-003': must('3.6.2', 'no version means 0.3'),
  'DM-TASK-001': must('4.1.1', 'a task has id, context and status'),
  'DM-TASK-002': must('4.1.3', 'a task state is one of the enumeration'),
  'DM-STATUS-001': must('4.1.2', 'a status has a state'),
  'DM-MSG-001': must('4.1.4', 'a message has id, role and parts'),
  'DM-MSG-002': must('4.1.5', 'a role is one of the enumeration, in and out'),
  'DM-PART-001': must('4.1.6', 'a part has exactly one content, in and out'),
  'DM-ART-001': must('4.1.7', 'an artifact has an id and at least one part'),
  'DM-SERIAL-001': must('5.5', 'fields are in camelCase'),
  'DM-SERIAL-002': must('5.5', 'enumerations are their ProtoJSON names'),
  'DM-SERIAL-003': must('5.6.1', 'times are UTC with milliseconds'),
  'DM-SERIAL-004': must('5.7', 'a message without a required field is refused'),
  'DM-SERIAL-005': should('5.7', 'fields nobody knows are ignored'),
  'BIND-EQUIV-001': must('5.1', 'both bindings offer the same operations'),
  'BIND-EQUIV-002': must('5.1', 'both bindings give the same answer'),
  'BIND-EQUIV-003': must('5.1', 'both bindings refuse for the same reason'),
  'BIND-EQUIV-004': must('5.1', 'both bindings take the same tokens'),
  'BIND-FIELD-001': must('5.2', 'the card declares every binding'),
  'AUTH-TLS-001': outside(must('7.1', 'production is encrypted'), 'TLS ends in front of the gateway'),
  'AUTH-SERVER-002': must('7.4', 'a token that is not valid is refused on every operation'),
  'AUTH-INTASK-001': outside(must('7.6.1', 'authorization in a task is tracked by it'), NO_AUTH_STATE),
  'AUTH-INTASK-002': outside(must('7.6.1', 'the task says so in its state'), NO_AUTH_STATE),
  'AUTH-INTASK-003': outside(must('7.6.1', 'the task says what is needed'), NO_AUTH_STATE),
  'AUTH-INTASK-004': outside(must('7.6.1', 'the secret does not travel in the task'), NO_AUTH_STATE),
  'AUTH-SCOPE-001': must('13.1', 'every operation checks who asks'),
  'AUTH-SCOPE-002': must('13.1', 'results stay within what the caller may see'),
  'AUTH-SCOPE-003': must('3.3.2', "another caller's task looks like one that does not exist"),
  'JSONRPC-FMT-001': must('9.1', 'requests and answers are JSON-RPC 2.0'),
  'JSONRPC-FMT-002': must('9.1', 'the content type is application/json'),
  'JSONRPC-SVC-001': must('9.1', 'methods have their PascalCase names'),
  'JSONRPC-SVC-002': must('9.2', 'version and extensions travel as headers'),
  'JSONRPC-ERR-001': must('9.5', 'errors have a code and a message'),
  'JSONRPC-ERR-002': must('9.5', "A2A's errors have A2A's codes"),
  'JSONRPC-ERR-003': must('9.5', "A2A's errors carry an ErrorInfo"),
  'JSONRPC-SSE-001': must('9.4.2', 'streams are server-sent events'),
  'JSONRPC-SSE-002': must('5.4', 'refusals of a stream have the same codes'),
  'HTTP_JSON-URL-001': must('11.3', 'operations are at their paths'),
  'HTTP_JSON-URL-002': must('11.3', 'operations have their HTTP methods'),
  'HTTP_JSON-SVC-001': must('11.1', 'JSON and A2A JSON are taken'),
  'HTTP_JSON-SVC-002': must('11.2', 'version and extensions travel as headers'),
  'HTTP_JSON-QP-001': must('11.5', 'query parameters are in camelCase'),
  'HTTP_JSON-ERR-001': must('11.6', 'errors are google.rpc.Status'),
  'HTTP_JSON-ERR-002': must('11.6', "A2A's errors carry an ErrorInfo"),
  'HTTP_JSON-STATUS-001': must('5.4', "A2A's errors have their HTTP statuses"),
  'HTTP_JSON-SSE-001': must('11.7', 'streams are server-sent events'),
  'CARD-DISC-001': must('8.1', 'the card is at its well-known address'),
  'CARD-PROTO-001': must('8.3', 'the card declares the protocols'),
  'CARD-PROTO-002': must('8.3.1', 'every interface has a binding, a version and a URL'),
  'CARD-STRUCT-001': must('4.4.1', 'the card has every required field and no other'),
  'CARD-EXT-001': must('3.1.11', 'the extended card needs a service key'),
  'CARD-EXT-002': outside(must('3.1.11', 'without an extended card asking is an error'), 'there is one'),
  'CARD-SIGN-001': must('8.4.1', 'the signature is over the canonical card'),
  'CARD-SIGN-002': must('8.4.1', 'signatures are not signed'),
  'CARD-SIGN-003': must('8.4.2', 'the signature names algorithm, type and key'),
  'CARD-SIGN-004': outside(must('8.4.3', 'expired keys verify nothing'), 'a duty of clients'),
  'CARD-CACHE-001': should('8.6.1', 'the card may be cached'),
  'CARD-CACHE-002': should('8.6.1', 'the card has an ETag'),
  'CARD-CACHE-003': may('8.6.1', 'the card has a date'),
} as const satisfies Record<string, Requirement>

export type RequirementId = keyof typeof A2A_REQUIREMENTS

/** A test that shows these requirements; its title is a sentence. */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  title: string,
  run: () => Promise<void> | void,
): void {
  test(`${title} [${[ids].flat().join(', ')}]`, run)
}
