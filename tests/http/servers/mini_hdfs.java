// SPDX-License-Identifier: Apache-2.0
// A real HDFS in one process, for as long as its standard input is open: two name nodes of the name "warehouse", the first of them
// active, and two data nodes. Compiled when it is run: java -cp 'JARS/*:FOLDER/tls' mini_hdfs.java FOLDER
//
// In FOLDER/tls are ssl-server.xml and the keys that it names. Prints "name node HOST:PORT HOST:TLS_PORT" twice, then "ready"; then it does what a line says, and answers it with "done":
//   active N       the other one goes into standby, and N becomes active
//   stop N         the name node N, which is active, is gone, and the other one becomes active
//   lose N         the data node N is gone, and the name nodes do not know it yet
//   tokens FILE    writes a file of tokens as YARN does; answers the text of the one that is for "ha-hdfs:warehouse" first
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;

class mini_hdfs {
  static final int LISTED_AT_ONCE = 5;

  static MiniDFSNNTopology.NSConf pair() {
    return new MiniDFSNNTopology.NSConf("warehouse")
        .addNN(new MiniDFSNNTopology.NNConf("nn1"))
        .addNN(new MiniDFSNNTopology.NNConf("nn2"));
  }

  static Token<TokenIdentifier> token(String kind, String service, int bytes) {
    return new Token<>(new byte[bytes], "password".getBytes(), new Text(kind), new Text(service));
  }

  static void write_tokens(String file, Configuration conf) throws Exception {
    Token<TokenIdentifier> wanted = token("HDFS_DELEGATION_TOKEN", "ha-hdfs:warehouse", 300);
    Credentials all = new Credentials();
    all.addToken(new Text("other"), token("YARN_AM_RM_TOKEN", "rm:8030", 20));
    all.addToken(new Text("elsewhere"), token("HDFS_DELEGATION_TOKEN", "10.1.2.3:8020", 60));
    all.addToken(new Text("wanted"), wanted);
    all.writeTokenStorageFile(new Path("file://" + file), conf);
    System.out.println(wanted.encodeToUrlString());
  }

  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration();
    conf.setInt("dfs.ls.limit", LISTED_AT_ONCE);
    conf.setBoolean("dfs.permissions.enabled", true);
    conf.set("dfs.http.policy", "HTTP_AND_HTTPS");
    conf.set("dfs.namenode.https-address", "127.0.0.1:0");
    conf.set("dfs.datanode.https.address", "127.0.0.1:0");
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(conf, new File(arguments[0], "hdfs"))
            .nnTopology(new MiniDFSNNTopology().addNameservice(pair()))
            .numDataNodes(2)
            .build();
    cluster.transitionToActive(0);
    cluster.waitActive();
    for (int i = 0; i != 2; ++i) {
      InetSocketAddress at = cluster.getNameNode(i).getHttpAddress();
      int tls = cluster.getNameNode(i).getHttpsAddress().getPort();
      System.out.println("name node 127.0.0.1:" + at.getPort() + " 127.0.0.1:" + tls);
    }
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      if (words[0].equals("active")) {
        int to = Integer.parseInt(words[1]);
        cluster.transitionToStandby(1 - to);
        cluster.transitionToActive(to);
      } else if (words[0].equals("stop")) {
        int gone = Integer.parseInt(words[1]);
        cluster.shutdownNameNode(gone);
        cluster.transitionToActive(1 - gone);
      } else if (words[0].equals("lose")) {
        cluster.stopDataNode(Integer.parseInt(words[1]));
      } else if (words[0].equals("tokens")) {
        write_tokens(words[1], conf);
      }
      System.out.println("done");
    }
    System.exit(0);  // its folder is thrown away: nothing has to end in order
  }
}
