// The engine behind the SDK's request-handler interface: what its transports (all of 0.3, and 1.0 over JSON-RPC except
// the fast path) call. Only conversion between the protobuf form and the wire form happens here.
import {
  AgentCard,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  taskStateToJSON,
  type ListTasksRequest,
} from '@a2a-js/sdk'
import { type A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { A2aCall, WireVersion } from './call.ts'
import type { Engine } from './engine.ts'
import { listTasks } from './list.ts'
import type { WireEvent } from './wire.ts'

const CALL = 'gateway.call'

/** The SDK's context with our call in it. */
export function contextOf(call: A2aCall, version: WireVersion): ServerCallContext {
  return new ServerCallContext({ requestedVersion: version, state: new Map([[CALL, call]]) })
}

const callOf = (context: ServerCallContext) => context.state.get(CALL) as A2aCall

export interface Cards {
  /** The public card, wire form. */
  publicCard(): unknown
  /** @throws {GatewayError} key_required */
  extended(call: A2aCall): Promise<unknown>
}

/** The engine in the interface that the SDK's transports call. */
export function createRequestHandler(engine: Engine, cards: Cards): A2ARequestHandler {
  /** The SDK's codec keeps only a message and a code: what was thrown is kept beside it, for its details. */
  async function kept<T>(context: ServerCallContext, work: (call: A2aCall) => Promise<T>): Promise<T> {
    const call = callOf(context)
    try {
      return await work(call)
    } catch (thrown) {
      call.refused = thrown
      throw thrown
    }
  }
  async function* keptStream(
    context: ServerCallContext,
    work: (call: A2aCall) => AsyncGenerator<WireEvent, void, undefined>,
  ) {
    const call = callOf(context)
    try {
      for await (const event of work(call)) yield StreamResponse.fromJSON(event)
    } catch (thrown) {
      call.refused = thrown
      throw thrown
    }
  }

  return {
    getAgentCard: async () => AgentCard.fromJSON(cards.publicCard()),
    getAuthenticatedExtendedAgentCard: (_params, context) =>
      kept(context, async (call) => AgentCard.fromJSON(await cards.extended(call))),
    sendMessage: (params, context) =>
      kept(context, async (call) => {
        const reply = await engine.send(SendMessageRequest.toJSON(params), call)
        return 'message' in reply ? Message.fromJSON(reply.message) : Task.fromJSON(reply.task)
      }),
    sendMessageStream: (params, context) =>
      keptStream(context, (call) => engine.stream(SendMessageRequest.toJSON(params), call)),
    getTask: ({ id, historyLength }, context) =>
      kept(context, async (call) => Task.fromJSON(await engine.get(id, historyLength, call))),
    listTasks: (params, context) =>
      kept(context, async (call) =>
        ListTasksResponse.fromJSON(await listTasks(engine, toListInput(params), call)),
      ),
    cancelTask: ({ id }, context) =>
      kept(context, async (call) => Task.fromJSON(await engine.cancel(id, call))),
    resubscribe: ({ id }, context) => keptStream(context, (call) => engine.subscribe(id, call)),
    createTaskPushNotificationConfig: (params, context) =>
      kept(context, async (call) =>
        TaskPushNotificationConfig.fromJSON(
          await engine.push.create(params.taskId, TaskPushNotificationConfig.toJSON(params), call),
        ),
      ),
    getTaskPushNotificationConfig: ({ taskId, id }, context) =>
      kept(context, async (call) =>
        TaskPushNotificationConfig.fromJSON(await engine.push.get(taskId, id, call)),
      ),
    listTaskPushNotificationConfigs: ({ taskId }, context) =>
      kept(context, async (call) => ({
        configs: (await engine.push.list(taskId, call)).map((config) =>
          TaskPushNotificationConfig.fromJSON(config),
        ),
        nextPageToken: '',
      })),
    deleteTaskPushNotificationConfig: ({ taskId, id }, context) =>
      kept(context, (call) => engine.push.remove(taskId, id, call)),
  }
}

const toListInput = (params: ListTasksRequest) => ({
  ...params,
  status: params.status === 0 ? undefined : taskStateToJSON(params.status),
})
