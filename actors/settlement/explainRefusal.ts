import { openIncidentsMax, type SettlementEvent } from '../../machines/settlementEvents.ts';
import { findSubmissionLifecycle, type SettlementSnapshot } from '../../machines/settlementMachine.ts';

/** Detail of the rejection of an event that `snapshot.can` refuses. */
export function explainRefusal(snapshot: SettlementSnapshot, event: SettlementEvent): string {
  const { closure, unfinishedRun, openIncidents, submission } = snapshot.context;
  switch (event.type) {
    case 'repeated':
      return 'this message was accepted before';
    case 'closure_accepted':
      return `round ${event.firstRound} is closed already, through ${closure?.lastRound}`;
    case 'run_started':
      return `run ${event.runId} ${unfinishedRun?.runId === event.runId ? 'is under way' : 'has ended'} already`;
    case 'run_finished': {
      const other = unfinishedRun === null ? 'none is' : `${unfinishedRun.runId} is`;
      return `run ${event.runId} is not under way, ${other}`;
    }
    case 'incident_opened': {
      const { incidentId, hasEnded } = event;
      if (openIncidents.includes(incidentId)) return `incident ${incidentId} is open already`;
      if (hasEnded) return `incident ${incidentId} has ended already`;
      return `${openIncidentsMax} other incidents are open already`;
    }
    case 'incident_closed':
      return `incident ${event.incidentId} is not open`;
    case 'submission_prepared':
      return snapshot.matches({ submission: 'underWay' })
        ? `submission ${submission?.submissionId} is still ${findSubmissionLifecycle(snapshot)}`
        : `submission ${event.submissionId} has ended already`;
    case 'submission_submitted':
    case 'submission_retrying':
    case 'submission_confirmed':
    case 'submission_reverted':
    case 'submission_superseded': {
      const { submissionId } = event;
      if (submission?.submissionId !== submissionId) {
        return `submission ${submissionId} is not the latest, ${submission?.submissionId ?? 'there is none'}`;
      }
      const next = event.type.slice('submission_'.length);
      return `a submission that is ${findSubmissionLifecycle(snapshot)} cannot become ${next}`;
    }
    case 'blocked':
    case 'unblocked':
    case 'epoch_approved':
    case 'settings':
      throw new Error(`${event.type} is allowed in every state`);
  }
}
