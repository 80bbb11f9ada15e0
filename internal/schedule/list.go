// Written by make lists from the kinds of nemesis.

package schedule

// faultsOfNemesis are the kinds of faults that a step can begin.
func faultsOfNemesis() []fault {
	return []fault{
		{
			name: "client-clock", hits: client, by: true,
			begins: "the clock of {client} jumps by {by}",
			ends:   "the clock of {client} is set right",
		},
		{
			name: "client-clock-rate", hits: client, rate: true,
			begins: "the clock of {client}, and its timers, run {times} times as fast as they should",
			ends:   "the clock of {client} is set right",
		},
		{
			name: "clock", hits: server, by: true,
			begins: "the clock of {server} jumps by {by}",
			ends:   "the clock of {server} is set right",
		},
		{
			name: "clock-ahead", hits: server, by: true,
			begins: "the clock of {server} is ahead by {by}",
			ends:   "the clock of {server} is set right",
		},
		{
			name: "clock-rate", hits: server, rate: true,
			begins: "the clock of {server} runs {times} times as fast as it should",
			ends:   "the clock of {server} is set right",
		},
		{
			name: "crash", hits: client,
			begins: "{client} crashes, and another will take its place",
			ends:   "another client takes the place of {client}",
		},
		{
			name: "cut-replication", hits: replica, replicas: 1,
			begins: "the link from the master to its replica{nth} is cut",
			ends:   "the link from the master to its replica is restored",
		},
		{
			name: "demote", hits: replica, replicas: 1,
			begins: "the master becomes a replica of its replica{nth}, and clients do not hear of it",
			ends:   "clients hear of the new master",
		},
		{
			name: "disconnect", hits: server,
			begins: "{server} is taken off its network",
			ends:   "{server} is back on its network",
		},
		{
			name: "drop-replication", hits: replica, replicas: 1,
			begins: "packets between the master and its replica{nth} are lost",
			ends:   "packets between the master and its replica arrive again",
		},
		{
			name: "duplicate", hits: client,
			begins: "the next command of {client} to {server} on the lock's key is sent twice",
			ends:   "commands of {client} are sent once again",
		},
		{
			name: "evict", hits: server,
			begins: "{server} runs out of memory and evicts what it can",
		},
		{
			name: "failover", hits: replica, replicas: 1,
			begins: "the master dies, and its replica{nth} is promoted",
		},
		{
			name: "flush", hits: server,
			begins: "somebody deletes all keys of {server}",
		},
		{
			name: "hung-reply", hits: client,
			begins: "the next replies of {server} to {client} get lost, and the connections hang",
			ends:   "replies to {client} arrive again",
		},
		{
			name: "isolate", hits: server,
			begins: "packets to {server} and from there are lost",
			ends:   "packets to {server} and from there arrive again",
		},
		{
			name: "kill", hits: server,
			begins: "the master dies",
		},
		{
			name: "late", hits: client,
			begins: "what {client} and the lock's servers send each other waits",
			ends:   "what {client} and the lock's servers sent each other arrives",
		},
		{
			name: "latency", hits: client, by: true,
			begins: "{client} is {by} away from the lock's servers",
			ends:   "{client} is no longer away from the lock's servers",
		},
		{
			name: "lost-reply", hits: client,
			begins: "the next replies of {server} to {client} get lost",
			ends:   "replies to {client} arrive again",
		},
		{
			name: "one-way", hits: client,
			begins:        "the lock's servers do not hear {client} any more",
			beginsOnReply: "{client} does not hear the lock's servers any more, and they hear it",
			ends:          "{client} and the lock's servers hear each other again, and what was sent meanwhile arrives",
		},
		{
			name: "oom", hits: server,
			begins: "{server} runs out of memory and may evict nothing",
			ends:   "{server} has memory again",
		},
		{
			name: "partial-replication", hits: replica, replicas: 2,
			begins: "the replica{nth} alone is cut off from the master",
			ends:   "the replica that was cut off is promoted",
		},
		{
			name: "partition", hits: client,
			begins: "{client} is cut off from {servers}",
			ends:   "{client} reaches all servers again",
		},
		{
			name: "pause", hits: client,
			begins: "{client} stands still",
			ends:   "{client} goes on",
		},
		{
			name: "pause-thread", hits: client,
			begins: "the thread {client} stands still, and its process goes on",
			ends:   "the thread {client} goes on",
		},
		{
			name: "power-loss", hits: server,
			begins: "{server}: what is written from here on does not reach the disk",
			ends:   "{server}: loses its power, and comes back with what the disk had",
		},
		{
			name: "promote", hits: replica, replicas: 1,
			begins: "the replica{nth} is promoted",
		},
		{
			name: "renewal-cut", hits: client,
			begins: "the renewals of {client} get lost on the network",
			ends:   "renewals of {client} would arrive again",
		},
		{
			name: "replication-lag", hits: nobody, by: true, replicas: 1,
			begins: "what the master sends to its replicas arrives late, by {by}",
			ends:   "what the master sends to its replicas arrives at once again",
		},
		{
			name: "restart", hits: server,
			begins: "{server}: killed",
			ends:   "{server}: started again, empty",
		},
		{
			name: "restart-aof", hits: server,
			begins: "{server}: killed, with its append-only file on disk",
			ends:   "{server}: started again, with its append-only file",
		},
		{
			name: "restart-delayed", hits: server,
			begins: "{server}: killed",
			ends:   "{server}: started again, empty, a TTL after its death",
		},
		{
			name: "script-flush", hits: nobody,
			begins: "the servers forget all scripts",
		},
		{
			name: "sentinel", hits: nobody, replicas: 1,
			begins: "the master dies, and the Sentinels promote its replica",
			ends:   "the old master comes back",
		},
		{
			name: "split-brain", hits: client, replicas: 1,
			begins: "the master is cut off with {client}, and its replica is promoted for everybody else",
			ends:   "the old master becomes a replica of the new one, and everybody reaches both",
		},
		{
			name: "squatter", hits: server,
			begins: "{server} gets a list under the lock's key from somebody else",
			ends:   "{server} has the list no more",
		},
		{
			name: "stall", hits: server,
			begins: "{server} stands still",
			ends:   "{server} goes on",
		},
		{
			name: "subscriber-cut", hits: client,
			begins: "the subscriptions of {client} to the lock's servers break",
			ends:   "subscriptions of {client} hold again",
		},
	}
}
