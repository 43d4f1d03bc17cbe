// Runs once before the suites. The PostgreSQL server behind the broker starts when a suite asks for it.
import { openCompileCache } from './compile-cache.ts'
import { BROKER_VARIABLE, startBroker } from './postgres.ts'

export default async function setup(): Promise<() => Promise<void>> {
  const removeCompiled = await openCompileCache()
  const broker = await startBroker()
  process.env[BROKER_VARIABLE] = String(broker.port)
  return async () => {
    await broker.stop()
    await removeCompiled()
  }
}
