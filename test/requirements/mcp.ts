// What MCP asks of this gateway, in our words.
// 2026-07-28; clauses are the paths below https://modelcontextprotocol.io/specification/2026-07-28/.
import { must, type Requirement, should } from './levels.ts'

export const MCP_REQUIREMENTS = {
  'mcp:tools:name': must('server/tools', 'a tool is called by the name that is listed'),
  'mcp:tools:structured': should('server/tools', 'structured content is there as text as well'),
  'mcp:tools:error-result': must(
    'server/tools',
    'a tool that refuses answers with a result that says isError',
  ),
  'mcp:tools:error-words': must('server/tools', 'an error says nothing of the inside of the server'),
  'mcp:tools:input': should(
    'server/tools',
    'input that does not fit is an error of the tool, which a model can mend',
  ),
  'mcp:tools:unknown': must('server/tools', 'an unknown tool is error -32602'),
  'mcp:tools:malformed': must(
    'server/tools',
    'a call without a name or with arguments that are no object is error -32602',
  ),
  'mcp:tools:listed': must('server/tools', 'a caller is shown what it may call'),
  'mcp:tools:access': must('server/tools', 'a tool that is not shown cannot be called either'),
  'mcp:tools:output-schema': must(
    'server/tools',
    'structured content holds against the output schema, for success and for a problem',
  ),
  'mcp:tools:schema-clients': must(
    'server/tools',
    'a refusal is no breach of the output schema to a client that checks it',
  ),
  'mcp:auth:bearer': must('basic/authorization', 'a token is taken from Authorization of each request'),
  'mcp:resources:list': must('server/resources', 'resources/list names what can be read'),
  'mcp:resources:miss': should(
    'server/resources',
    'a resource that is not there is error -32002 until 2025-11-25, and -32602 since',
  ),
  'mcp:prompts:get': must('server/prompts', 'a prompt is made of its arguments, which are checked'),
  'mcp:completion:values': must('server/utilities/completion', 'at most 100 values complete an argument'),
  'mcp:cache:hints': must(
    'server/utilities/caching',
    'lists and resources say how long they hold, and for whom',
  ),
  'mcp:skills:list': must('ext/skills', 'skills/list names every file with the digest of what is read'),
  'mcp:progress:order': must(
    'basic/utilities/progress',
    'progress grows, each step is told once, and the result comes last',
  ),
  'mcp:progress:clients': must('basic/utilities/progress', 'the official clients hear of progress in order'),
  'mcp:cancel:closed': must('basic/transports/streamable-http', 'closing the response stream ends the work'),
  'mcp:cancel:notified': should('basic/utilities/cancellation', 'notifications/cancelled ends the work'),
  'mcp:cancel:clients': should('basic/utilities/cancellation', 'each official client can stop a call'),
  'mcp:transport:json': must(
    'basic/transports/streamable-http',
    'a request is answered in JSON or as a stream',
  ),
  'mcp:transport:methods': should('basic/transports/streamable-http', 'GET and DELETE are answered with 405'),
  'mcp:transport:host': must(
    'basic/transports/streamable-http',
    'a name that was rebound to this machine is refused',
  ),
  'mcp:transport:origin': must(
    'basic/transports/streamable-http',
    'an origin that is not allowed is refused',
  ),
  'mcp:transport:type': must('basic/transports/streamable-http', 'a body of another type is refused'),
  'mcp:transport:limit': should(
    'basic/transports/streamable-http',
    'a body without a length is cut off at the limit',
  ),
  'mcp:jsonrpc:parse': must('basic/index', 'what is no JSON is error -32700'),
  'mcp:jsonrpc:request': must('basic/index', 'what is no JSON-RPC request is error -32600'),
  'mcp:jsonrpc:batch': must('basic/index', 'a batch of the revision that has them is answered'),
  'mcp:jsonrpc:response': must('basic/index', 'a response that nobody asked for is taken with 202'),
  'mcp:jsonrpc:any': must('basic/index', 'no JSON whatever makes the server fail'),
  'mcp:lifecycle:version': must(
    'basic/lifecycle',
    'initialize is answered with the version that was asked for, or with the newest of that era',
  ),
  'mcp:lifecycle:session': must('basic/lifecycle', 'a client goes on with or without the session id'),
  'mcp:lifecycle:unknown': must('basic/lifecycle', 'a session id that is not ours asks for a new initialize'),
  'mcp:discover:answer': must('server/discover', 'server/discover tells versions and capabilities'),
  'mcp:discover:cache': must('server/discover', 'a cacheable result says how long it holds and for whom'),
  'mcp:headers:required': must(
    'basic/transports/streamable-http',
    'version, method and name are required as headers',
  ),
  'mcp:headers:match': must(
    'basic/transports/streamable-http',
    'a header that contradicts the body is error -32020',
  ),
  'mcp:headers:base64': must('basic/transports/streamable-http', 'a name in Base64 is read'),
  'mcp:version:envelope': must('basic/versioning', 'a request without the version in _meta is refused'),
  'mcp:version:unsupported': must(
    'basic/versioning',
    'an unknown version is error -32022 with those that are supported',
  ),
  'mcp:methods:unknown': must('basic/transports/streamable-http', 'an unknown method is 404 and -32601'),
  'mcp:subscriptions:ack': must(
    'basic/utilities/subscriptions',
    'a subscription is acknowledged before anything else',
  ),
  'mcp:pagination:cursor': should(
    'server/utilities/pagination',
    'a cursor that was never given out is refused',
  ),
  'mcp:trace:context': should('basic/index', 'the trace of the header or of _meta is in the log'),
  'mcp:limits:rate': should('server/tools', 'calls are limited, and the refusal says when to come back'),
  'mcp:stdio:bridge': should('basic/transports/stdio', 'without a gateway the bridge says what to do'),
} as const satisfies Record<string, Requirement>
