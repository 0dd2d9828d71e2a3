import { requireValue } from '../../machines/requireValue.ts';
import { openIncidentsMax, type SettlementEvent } from '../../machines/settlementEvents.ts';
import { findSubmissionLifecycle, type SettlementSnapshot } from '../../machines/settlementMachine.ts';

/** Detail of the rejection of an event that `snapshot.can` refuses. */
export function explainRefusal(snapshot: SettlementSnapshot, event: SettlementEvent): string {
  const { closure, unfinishedRun, openIncidents, submission } = snapshot.context;
  switch (event.type) {
    case 'repeated':
      return 'message: expected a new one, given one that was accepted before';
    case 'closure_accepted': {
      const { lastRound } = requireValue(closure, 'the closure before');
      return `firstRound: expected more than ${lastRound}, the last round of the newest closure, given ${event.firstRound}`;
    }
    case 'run_started': {
      const isUnderWay = unfinishedRun?.runId === event.runId;
      return `runId: expected a new run, given ${event.runId}, which ${isUnderWay ? 'is under way' : 'has ended'}`;
    }
    case 'run_finished':
      return `runId: expected ${unfinishedRun?.runId ?? 'none, since no run is under way'}, given ${event.runId}`;
    case 'incident_opened': {
      const { incidentId, hasEnded } = event;
      if (!hasEnded && !openIncidents.includes(incidentId))
        return `message: expected at most ${openIncidentsMax} open incidents, given another one`;
      return `incidentId: expected a new incident, given ${incidentId}, which ${hasEnded ? 'has ended' : 'is open'}`;
    }
    case 'incident_closed':
      return `incidentId: expected an open incident, given ${event.incidentId}`;
    case 'submission_prepared': {
      const { submissionId } = event;
      return snapshot.matches({ submission: 'underWay' })
        ? `message: expected the end of submission ${submission?.submissionId}, which is ${findSubmissionLifecycle(snapshot)}, given submission ${submissionId}`
        : `submissionId: expected a new submission, given ${submissionId}, which has ended`;
    }
    case 'submission_submitted':
    case 'submission_retrying':
    case 'submission_confirmed':
    case 'submission_reverted':
    case 'submission_superseded': {
      const { submissionId } = event;
      if (submission?.submissionId !== submissionId) {
        return `submissionId: expected ${submission?.submissionId ?? 'none, since none is prepared'}, given ${submissionId}`;
      }
      return `type: expected a move of a submission that is ${findSubmissionLifecycle(snapshot)}, given ${event.type}`;
    }
    case 'blocked':
    case 'unblocked':
    case 'epoch_approved':
    case 'settings':
      throw new Error(`${event.type} is allowed in every state`);
  }
}
