// Runs once before the suites. The PostgreSQL server behind the broker starts when a suite asks for it.
import { BROKER_VARIABLE, startBroker } from './postgres.ts'

export default async function setup(): Promise<() => Promise<void>> {
  const broker = await startBroker()
  process.env[BROKER_VARIABLE] = String(broker.port)
  return broker.stop
}
