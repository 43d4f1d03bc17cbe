// The A2A door: 1.0 over JSON-RPC at /a2a and over HTTP+JSON at /a2a/rest, 0.3 over JSON-RPC at /a2a, and the agent card.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { spellProblem } from '../../core/tool-words.ts'
import { GatewayError, toProblem } from '../../core/errors.ts'
import type { KnownTask } from './task-store.ts'
import { type A2aCall, requestedVersion } from './call.ts'
import { createSignedCards } from './signed-cards.ts'
import { fixDocument, type FixedDocument } from '../http/document.ts'
import { createEngine } from './engine.ts'
import type { SendRequest } from './envelope.ts'
import type { A2aExtension } from './extension.ts'
import { createHelpMessage } from './help-message.ts'
import { type Cards, createRequestHandler } from './handler.ts'
import { createJsonRpc } from './jsonrpc.ts'
import { createRest, REST_PREFIX } from './http-json.ts'
import { chooseSkill, createSkillTable, SKILLS_EXTENSION_PATH } from './skills.ts'
import { openNotifications } from './notifications.ts'
import { paidWork } from './paid-work.ts'
import { X402_EXTENSIONS } from './x402-form.ts'
import { readSubmission } from './x402-metadata.ts'
import { createDecidePending } from './pending-settlement.ts'
import { waitForPermission } from './sign-in.ts'
import { resumeCall } from './unpaid-call.ts'
import { toolWork, type ToolWorkParts, wantsText, type Work } from './work.ts'
import type { WireMessage } from './wire.ts'
import { OPEN, openToPages, sendOptions } from '../http/cors.ts'
import { createMessageReading } from '../http/body-limit.ts'
import type { HttpContext, HttpHandler } from '../http/request.ts'
import { messageProblem } from '../message-answer.ts'
import { sendProblem } from '../http/reply.ts'
import { readerOf } from './card-reader.ts'
import type { DoorParts } from '../parts.ts'
import { wantsWhole } from '../long-answer.ts'
import { wantsSignatures } from '../receipt-signatures.ts'
import { IDEMPOTENCY_KEY_META, oneKey } from '../../core/idempotency-key.ts'
import { isPaid } from '../../core/price.ts'

export interface A2aDoor {
  /** `/a2a` and everything below it. */
  readonly http: HttpHandler
  /** `/.well-known/agent-card.json` (and the 0.3 address). */
  readonly card: HttpHandler
  close(): Promise<void>
}

const DRAIN_MS = 30_000

const EXTENDED_FOR =
  'The extended card is for whoever sends a token: a service key (agw_sk_…) sees what it may call besides. Without one read the public ' +
  'card at /.well-known/agent-card.json, which lists every skill that needs no service key.'

/** Opens the door: both bindings, the cards, and tasks that outlive this process in the store. */
export async function createA2aDoor(parts: DoorParts, extension?: A2aExtension): Promise<A2aDoor> {
  const { registry, calls, addresses, store, signer, log, now } = parts
  const { baseUrl } = addresses
  const table = createSkillTable(registry)
  const signedCards = createSignedCards(table, addresses, signer, now, {
    pushNotifications: parts.webhooks !== undefined,
  })
  const extensionUri = baseUrl + SKILLS_EXTENSION_PATH
  const writeHelp = createHelpMessage(table, extensionUri)

  const admit = ({ tokens, address, seen }: A2aCall) =>
    calls.admit('a2a tasks', tokens, address, 'anyone', seen)

  function plan(request: SendRequest, call: A2aCall, resumed: KnownTask | undefined): Work | WireMessage {
    const added = extension?.workFor(request)
    if (added) return added
    const chosen = chooseSkill(table, request, extensionUri)
    const choice = resumed?.unpaid ? resumeCall(table, resumed.unpaid, chosen) : chosen
    if (choice.kind === 'none') return writeHelp(request.message.contextId)
    const modes = request.acceptedOutputModes
    const whole = [request.message.metadata, request.metadata].some(wantsSignatures)
    const work: ToolWorkParts = {
      calls,
      call,
      skill: choice.skill,
      input: choice.input,
      submission: readSubmission(request),
      idempotencyKey: idempotencyKeyOf(request, call),
      wantsSignatures: whole,
      wantsWhole: [request.message.metadata, request.metadata].some(wantsWhole),
      spell: table.spell,
      asText: modes.length === 0 ? (resumed?.unpaid?.asText ?? false) : wantsText(modes),
      toProblem: (error) => {
        const problem = toProblem(error, { requestId: call.requestId, baseUrl })
        return messageProblem(spellProblem(problem, table.spell), whole)
      },
    }
    const done = isPaid(choice.skill.entry.tool)
      ? paidWork({ ...work, resumed })
      : toolWork({ ...work, resumed })
    return waitForPermission(done, work, { admit: () => admit(call), consoleUrl: `${baseUrl}/console` })
  }

  const notifications = openNotifications(parts)
  const engine = createEngine({
    store: notifications?.watch(store) ?? store,
    now,
    log,
    plan,
    admit,
    decide: createDecidePending(parts.payments, (id) => table.find(id)?.entry.tool, log),
    push: notifications?.push,
  })
  notifications?.start(engine.readStored)
  const cardSource: Cards = {
    publicCard: () => signedCards().cards.v1,
    async extended({ tokens, address }) {
      const wanted = tokens.bearer?.startsWith('agw_sk_') ? 'seller' : 'anyone'
      const caller = await calls.admit('a2a card', tokens, address, wanted)
      // 13.3: whoever asks is authenticated. The holder of an email key is, too, although it is nobody in particular here.
      if (caller.kind === 'anonymous' && !tokens.bearer?.startsWith('agw_ek_'))
        throw new GatewayError('key_required', EXTENDED_FOR)
      return signedCards().cards.extended(readerOf(caller))
    },
  }
  const shared = {
    engine,
    cards: cardSource,
    extensions: [extensionUri, ...X402_EXTENSIONS],
    baseUrl,
    spell: table.spell,
    readingOf: createMessageReading(parts, 'a2a'),
    logFailure: (thrown: unknown, requestId: string) =>
      log.error({ request_id: requestId, err: thrown }, 'a2a request failed'),
  }
  const serveJsonRpc = createJsonRpc({ ...shared, handler: createRequestHandler(engine, cardSource) })
  const serveRest = createRest(shared)

  const openedAt = now()
  let skillsDocument: FixedDocument | undefined
  const skillsDocumentOnce = () =>
    (skillsDocument ??= fixDocument(JSON.stringify(signedCards().cards.skillsDocument), {
      type: 'application/json',
      headers: OPEN.public,
      modified: openedAt,
    }))

  return {
    async http(req, res, context) {
      const { path } = context
      if (path === REST_PREFIX || path.startsWith(`${REST_PREFIX}/`)) return serveRest(req, res, context)
      try {
        if (path === SKILLS_EXTENSION_PATH) return await read(skillsDocumentOnce(), req, res, context)
        if (path !== '/a2a' && path !== '/a2a/')
          throw new GatewayError('not_found', 'A2A is at /a2a; its card is at /.well-known/agent-card.json.')
        if (req.method === 'OPTIONS')
          return sendOptions(res, context.requestId, ['POST', 'OPTIONS'], 'protocol')
        if (req.method !== 'POST')
          throw new GatewayError(
            'method_not_allowed',
            'POST a JSON-RPC request here; the card is at /.well-known/agent-card.json.',
            { extras: { allow: ['POST', 'OPTIONS'] } },
          )
      } catch (thrown) {
        res.setHeaders(new Map(Object.entries(openToPages(req))))
        return sendProblem(res, thrown, context, addresses)
      }
      return serveJsonRpc(req, res, context)
    },
    async card(req, res, context) {
      try {
        const version =
          context.path === '/.well-known/agent.json' ? '0.3' : requestedVersion(req, context.query)
        const { v1, v03, superset } = signedCards().documents
        const unversioned = extension?.unversionedCard === 'v1' ? v1 : superset
        await read(version === '1.0' ? v1 : version === '0.3' ? v03 : unversioned, req, res, context)
      } catch (thrown) {
        sendProblem(res, thrown, context, addresses)
      }
    },
    async close() {
      await engine.close(DRAIN_MS)
      await notifications?.close()
    },
  }
}

/** Answers a document. @throws {GatewayError} method_not_allowed */
async function read(
  document: FixedDocument,
  req: IncomingMessage,
  res: ServerResponse,
  { requestId }: HttpContext,
): Promise<void> {
  const allow = ['GET', 'HEAD', 'OPTIONS']
  if (req.method === 'OPTIONS') return sendOptions(res, requestId, allow, 'protocol')
  if (req.method !== 'GET' && req.method !== 'HEAD')
    throw new GatewayError('method_not_allowed', 'Use GET here.', { extras: { allow } })
  await document.send(req, res, { 'x-request-id': requestId })
}

/** The key of the header, of the message's metadata or of the request's. */
const idempotencyKeyOf = ({ message, metadata }: SendRequest, call: A2aCall): unknown =>
  oneKey(call.idempotencyKey, message.metadata?.[IDEMPOTENCY_KEY_META], metadata?.[IDEMPOTENCY_KEY_META])
