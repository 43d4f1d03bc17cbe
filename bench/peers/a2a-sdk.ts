// Peer of the A2A benchmark: @a2a-js/sdk as its README sets a server up (DefaultRequestHandler, InMemoryTaskStore, express).
// `echo` in the data part answers with a message, `task` with a task that has one artifact.
import { randomUUID } from 'node:crypto'
import { AgentCard, Message, Task, TaskStatusUpdateEvent, TaskArtifactUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'

const executor: AgentExecutor = {
  async execute({ userMessage, taskId, contextId }, bus) {
    const content = userMessage.parts[0]?.content
    const { skill, input } = (content?.$case === 'data' ? content.value : {}) as {
      skill: string
      input: unknown
    }
    if (skill === 'echo') {
      const message = { messageId: randomUUID(), contextId, role: 'ROLE_AGENT', parts: [{ data: input }] }
      bus.publish(AgentEvent.message(Message.fromJSON(message)))
    } else {
      const timestamp = new Date().toISOString()
      const status = { state: 'TASK_STATE_WORKING', timestamp }
      bus.publish(
        AgentEvent.task(
          Task.fromJSON({ id: taskId, contextId, status, history: [Message.toJSON(userMessage)] }),
        ),
      )
      const artifact = { artifactId: randomUUID(), parts: [{ data: input }] }
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({ taskId, contextId, artifact, lastChunk: true }),
        ),
      )
      const done = { taskId, contextId, status: { state: 'TASK_STATE_COMPLETED', timestamp } }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(done)))
    }
    bus.finished()
  },
  async cancelTask() {},
}

const app = express()
const server = app.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const card = AgentCard.fromJSON({
    name: 'peer',
    description: 'peer',
    version: '1.0.0',
    supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [{ id: 'echo', name: 'echo', description: 'echo', tags: ['echo'] }],
  })
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
  console.log(`listening on ${url}`)
})
server.keepAliveTimeout = 65_000
process.on('SIGTERM', () => process.exit(0))
