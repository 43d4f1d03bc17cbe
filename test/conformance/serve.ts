// The gateway with the fixtures that the MCP suite and the A2A compatibility kit call, configured by the environment as usual.
// `PORT=8402 node test/conformance/serve.ts`
import { loadConfig } from '../../src/app/config.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/lib/log.ts'
import { a2aFixtures } from './fixtures/a2a.ts'
import { mcpFixtures } from './fixtures/mcp.ts'

const config = loadConfig(process.env)
const gateway = await startGateway(config, createLogger(config.logLevel), {
  extend: { mcp: mcpFixtures, a2a: a2aFixtures },
})
console.log(`listening on http://127.0.0.1:${gateway.port}`)
process.once('SIGTERM', () => void gateway.close())
