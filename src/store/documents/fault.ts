// What is said of a document that an operator edited and that cannot be used, in a log line and by whoever wants to change it.
import { OperatorJsonFault } from '../../lib/operator-json.ts'

/** @param name of the document, as its place calls it. The words of a schema are left out: they may quote what it was given */
export function describeFault(name: string, thrown: unknown, hasGood: boolean): string {
  const used = hasGood ? 'the last valid version' : 'the default'
  const what = `${name} is not valid; ${used} is used.`
  return thrown instanceof OperatorJsonFault ? `${what} It ${thrown.message}.` : what
}
