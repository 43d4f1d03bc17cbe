// Retry safety and auditability are asked of every protocol in the same words; where the answer stands differs.
import type { Found, Place } from '../ports.ts'
import { all, type Check, limit, none, type Subject, type Verdict } from './model.ts'

/** Answers of one protocol to the questions that all are asked. A verdict of null: does not apply. */
export interface CommonAnswers {
  /** Key by which the server can recognise a repetition. */
  readonly key: Found<string> | null
  /** Why no key is needed, or null. */
  readonly repeatable: Found<true> | null
  /** Why the protocol has no field for a key. */
  readonly blame?: string | undefined
  /** Why the protocol writes money as fractions. */
  readonly moneyBlame?: string
  /** Identity that stays the same when the request is sent again. */
  readonly identity: Place | null
  readonly correlation: Verdict | null
  readonly agent: Verdict | null
  readonly signature: Verdict | null
  /** Receipt, where the protocol has one in the request. */
  readonly receipt?: Verdict
}

interface Documents {
  readonly retry: string | null
  readonly receipt: string | null
}

/** Checks of retry safety and auditability for one rubric, with the answers of its protocol. */
export function commonChecks<F>(
  prefix: string,
  /** First digit of the numbers, where a protocol has several rubrics. */
  tens: number,
  documents: Documents,
  answer: (subject: Subject<F>) => CommonAnswers,
): Check<F>[] {
  const ask = (
    nn: string,
    max: number,
    asks: string,
    remediation: string,
    spec: string | null,
    judge: Check<F>['judge'],
  ): Check<F> => ({ id: `${prefix}-${nn.replace('0', String(tens))}`, max, asks, remediation, spec, judge })
  return [
    ask(
      'RETRY-01',
      4,
      'A repetition is recognised: an idempotency key, or a method that is safe to repeat.',
      'Send one idempotency key per purchase and repeat it on every retry.',
      documents.retry,
      (subject) => {
        const { key, repeatable, blame } = answer(subject)
        const reason = key ?? repeatable
        if (reason !== null) return all(reason.at)
        const finding = 'After a lost answer the client can only guess whether sending again pays twice.'
        return blame === undefined ? none(finding) : limit(0, `${finding} ${blame}`)
      },
    ),
    ask(
      'RETRY-02',
      2,
      'The payment keeps one identity across retries.',
      'Make the identifier once per purchase, not once per attempt.',
      documents.retry,
      (subject) => {
        const { identity, blame } = answer(subject)
        if (identity !== null) return all(identity)
        const finding = 'Nothing in the transaction would be the same on the second attempt.'
        return blame === undefined ? none(finding) : limit(0, `${finding} ${blame}`)
      },
    ),
    targetCheck<F>(`${prefix}-RETRY-${tens}3`, 2),
    ask(
      'RETRY-04',
      2,
      'Money is written in whole units, never as a fraction.',
      'Write amounts as integers of the smallest unit.',
      null,
      (subject) => {
        const { amount, amountIsInteger } = subject.detection.facts
        const { moneyBlame } = answer(subject)
        if (amount === null ? moneyBlame === undefined : amountIsInteger) return all(amount?.at)
        return moneyBlame === undefined
          ? none('The amount is no integer: two programs may round it differently.', amount?.at)
          : limit(
              0,
              `The amount is a fraction: two programs may round it differently. ${moneyBlame}`,
              amount?.at,
            )
      },
    ),
    ask(
      'AUDIT-01',
      3,
      'The transaction can be found again: request id, trace, payment id or task.',
      'Send `Request-Id` or `traceparent`, or an identifier of the payment itself.',
      null,
      (subject) => answer(subject).correlation,
    ),
    ask(
      'AUDIT-02',
      3,
      'It says who pays or which agent acts.',
      'Name the payer or the agent in the field the protocol has for it.',
      null,
      (subject) => answer(subject).agent,
    ),
    ask(
      'AUDIT-03',
      2,
      'It carries a signature that a third party could check later.',
      'Sign with a key pair; a shared secret or a bearer token proves nothing to others.',
      null,
      (subject) => answer(subject).signature,
    ),
    ...(documents.receipt === null
      ? []
      : [
          ask(
            'AUDIT-04',
            2,
            'A signed receipt was asked for or offered.',
            'Advertise and echo the receipt extension of the protocol.',
            documents.receipt,
            (subject) => answer(subject).receipt ?? null,
          ),
        ]),
  ]
}

/** Correlation by the first field that is there; the id of a JSON-RPC request is unique in flight only. */
export function judgeCorrelation(
  places: readonly (Place | null | undefined)[],
  jsonRpcId: Place | null,
): Verdict {
  const at = places.find((place) => typeof place === 'string')
  if (typeof at === 'string') return all(at)
  if (jsonRpcId !== null)
    return {
      points: 1,
      at: jsonRpcId,
      finding: 'Only the JSON-RPC id names this request, and it is unique in flight only.',
    }
  return none('Nothing names this request in a log.')
}

/** All points where somebody is named. */
export const judgeAgent = (at: Place | null | undefined, finding: string): Verdict =>
  typeof at === 'string' ? all(at) : none(finding)

/** Asked of every message, also where nothing else of retry safety applies. */
export const targetCheck = <F>(id: string, max: number): Check<F> => ({
  id,
  max,
  asks: 'The target is https.',
  remediation: 'Send payments over https only.',
  spec: null,
  judge: ({ message }) =>
    message.target.url?.protocol === 'https:' || message.target.url?.protocol === 'wss:'
      ? all('/target')
      : none('The target is not an https address.', '/target'),
})
