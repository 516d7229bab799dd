package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
)

// nodes is the number of the cluster's nodes. All are on this machine, each with a slurmd.
const nodes = 3

// slurm starts a cluster: munge, which signs its messages, a controller, and nodes.
func slurm(dir string) ([]string, error) {
	bins := map[string]string{}
	for _, p := range []struct{ pkg, program string }{{"munge", "munged"}, {"munge", "munge"}, {"slurmctld", "slurmctld"}, {"slurmd", "slurmd"}, {"slurm-client", "sbatch"}, {"slurm-client", "scontrol"}} {
		bin, err := found(p.pkg, p.program)
		if err != nil {
			return nil, err
		}
		bins[p.program] = bin
	}
	data, _, err := home(dir, "slurm", "root")
	if err != nil {
		return nil, err
	}
	key := data + "/munge.key"
	if err := owned(key, strings.Repeat(rand.Text(), 4), nil); err != nil {
		return nil, err
	}
	socket := data + "/munge.socket"
	munge := server{Name: "slurm-0-munge", Stop: syscall.SIGTERM, Ready: []string{bins["munge"], "-n", "-S", socket}}
	munge.Argv = []string{bins["munged"], "-F", "-f", "--key-file", key, "--socket", socket, "--pid-file", data + "/munge.pid", "--log-file", data + "/munge.log", "--seed-file", data + "/munge.seed"}
	config := data + "/slurm.conf"
	text, err := clusterConfig(data, socket)
	if err != nil {
		return nil, err
	}
	env := []string{"SLURM_CONF=" + config}
	ctl := server{Name: "slurm-1-controller", Stop: syscall.SIGTERM, Env: env, Argv: []string{bins["slurmctld"], "-D", "-f", config}, Ready: []string{bins["scontrol"], "ping"}}
	servers := []server{munge, ctl}
	for i := range nodes {
		name := fmt.Sprintf("n%d", i+1)
		ready := []string{"sh", "-c", "sinfo -h -n " + name + " -o %t | grep -qE 'idle|mix|alloc'"}
		servers = append(servers, server{Name: "slurm-2-" + name, Stop: syscall.SIGTERM, Env: env, Argv: []string{bins["slurmd"], "-D", "-N", name, "-f", config}, Ready: ready})
	}
	if err := owned(config, text, nil); err != nil {
		return nil, err
	}
	env = append(env, "REHOME_TEST_SLURM="+dir)
	for _, s := range servers {
		script, err := s.begin(dir)
		if err != nil {
			return nil, err
		}
		if name, ok := strings.CutPrefix(s.Name, "slurm-2-"); ok {
			env = append(env, "REHOME_TEST_SLURM_"+strings.ToUpper(name)+"_CTL="+script)
		}
	}
	return env, nil
}

// clusterConfig is slurm.conf. A node that does not answer for some seconds is down, and its
// tasks start again when their credentials have expired.
func clusterConfig(data, socket string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `ClusterName=rehome
SlurmctldHost=%s(127.0.0.1)
SlurmctldPort=%s
SlurmUser=%[3]s
SlurmdUser=%[3]s
AuthType=auth/munge
AuthInfo=socket=%s,cred_expire=5
CredType=cred/munge
StateSaveLocation=%s
SlurmdSpoolDir=%[5]s/%%n
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmdPidFile=%[5]s/%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
JobRequeue=1
ReturnToService=2
SlurmdTimeout=3
MessageTimeout=3
SlurmctldTimeout=30
MinJobAge=300
KillWait=1
MaxArraySize=10001
`, host, freePort(), me.Username, socket, data)
	for i := range nodes {
		if err := os.Mkdir(filepath.Join(data, fmt.Sprintf("n%d", i+1)), 0o700); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%s CPUs=2 RealMemory=65536 State=UNKNOWN\n", i+1, host, freePort())
	}
	b.WriteString("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
	return b.String(), nil
}
